/** The switch above the field: which model answers, also in the middle of a run. */
import { choicesOf, modelNameOf, type Connection } from "./connection.js";
import { element } from "./element.js";
import { icon } from "./icon.js";

export class ModelSwitch {
  readonly #select = element("select", { "aria-label": "Model" });
  readonly element = element(
    "label",
    { class: "mode-switch model-switch", title: "Asked from the next model call on" },
    icon("chip"),
    this.#select,
  );
  #choices: readonly Connection[] = [];

  /** Contract of `change`: takes the connection over and shows it, or shows the one that stays. */
  constructor(change: (connection: Connection) => void) {
    this.#select.addEventListener("change", () => {
      const chosen = this.#choices[this.#select.selectedIndex];
      if (chosen) change(chosen);
    });
  }

  show(connection: Connection): void {
    this.#choices = choicesOf(connection);
    const name = modelNameOf(connection);
    this.#select.replaceChildren(
      ...this.#choices.map((choice) =>
        element("option", { selected: modelNameOf(choice) === name }, modelNameOf(choice)),
      ),
    );
  }
}
