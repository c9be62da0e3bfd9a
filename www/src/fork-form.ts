/** The form below a step: a fork of the run, with another model or system prompt, other or fewer tools. */
import type { Tool } from "looplet";
import { system as ownSystem } from "../../examples/tools/index.mjs";
import { choicesOf, modelNameOf, type Connection } from "./connection.js";
import type { Setup } from "./conversation.js";
import { element } from "./element.js";
import { explainThrown } from "./failure.js";
import type { Changes } from "./memory.js";

/** A fork as a person wants it. */
export interface Fork extends Required<Changes> {
  /** An index of the steps. */
  step: number;
  connection: Connection;
  /** A message that the model gets with its next request; may be empty. */
  told: string;
}

/** A tool: whether the model gets it, and what the model is told about it. */
class ToolField {
  readonly element: HTMLElement;
  readonly #isOffered: HTMLInputElement;
  readonly #description: HTMLInputElement;

  constructor(
    readonly name: string,
    description: string,
    { without, descriptions }: Changes,
  ) {
    this.#isOffered = element("input", { type: "checkbox", checked: !without?.includes(name) });
    this.#description = element("input", {
      type: "text",
      value: descriptions?.[name] ?? description,
      "aria-label": `What the model is told about ${name}`,
    });
    this.element = element(
      "div",
      { class: "fork-tool" },
      element("label", { class: "check" }, this.#isOffered, element("span", {}, name)),
      this.#description,
    );
  }

  get isOffered(): boolean {
    return this.#isOffered.checked;
  }

  get description(): string {
    return this.#description.value.trim();
  }
}

export class ForkForm {
  readonly element: HTMLElement;
  readonly #model: HTMLSelectElement;
  readonly #choices: readonly Connection[];
  readonly #system: HTMLTextAreaElement;
  readonly #told = element("input", {
    type: "text",
    placeholder: "Optional: the model gets it with its next request",
  });
  readonly #tools: ToolField[];
  readonly #go = element(
    "button",
    { type: "button", class: "primary", click: () => this.#fork() },
    "Go on from here",
  );
  readonly #problem = element("div", { class: "form-error", role: "alert" });
  readonly #forks: (fork: Fork) => void;
  #step = 0;

  constructor(setup: Readonly<Setup>, tools: { readonly [name: string]: Tool }, fork: (fork: Fork) => void) {
    this.#forks = fork;
    this.#choices = choicesOf(setup.connection);
    const now = modelNameOf(setup.connection);
    this.#model = element(
      "select",
      {},
      ...this.#choices.map((choice) =>
        element("option", { selected: modelNameOf(choice) === now }, modelNameOf(choice)),
      ),
    );
    this.#system = element("textarea", { rows: 3 });
    this.#system.value = setup.system ?? ownSystem;
    this.#tools = Object.entries(tools).map(
      ([name, { description = "" }]) => new ToolField(name, description, setup),
    );
    const labelled = (label: string, control: HTMLElement) =>
      element("label", { class: "field" }, element("span", {}, label), control);
    this.element = element(
      "details",
      { class: "fork" },
      element("summary", {}, "Fork the run at this step"),
      element(
        "div",
        { class: "fork-body" },
        labelled("Model", this.#model),
        labelled("System prompt", this.#system),
        labelled("Tell it", this.#told),
        element(
          "fieldset",
          { class: "fork-tools" },
          element("legend", {}, "Tools"),
          ...this.#tools.map((tool) => tool.element),
        ),
        element(
          "p",
          { class: "quiet" },
          "Calls that were done are not made again. The chat of this page gives way to the fork.",
        ),
        this.#problem,
        element("p", { class: "actions" }, this.#go),
      ),
    );
  }

  /** `canFork`: there is a journal to go on from. */
  show(step: number, canFork: boolean): void {
    this.#step = step;
    this.#go.disabled = !canFork;
    this.#go.title = canFork ? "" : "Nothing of the run is saved at this step yet";
    this.#problem.replaceChildren();
  }

  #fork(): void {
    const connection = this.#choices[this.#model.selectedIndex];
    if (!connection) return;
    try {
      this.#forks({
        step: this.#step,
        connection,
        system: this.#system.value,
        without: this.#tools.filter(({ isOffered }) => !isOffered).map(({ name }) => name),
        descriptions: Object.fromEntries(this.#tools.map(({ name, description }) => [name, description])),
        told: this.#told.value.trim(),
      });
    } catch (error) {
      this.#problem.replaceChildren(element("p", {}, explainThrown(error).details));
    }
  }
}
