/**
 * What a person sets while they talk (permissions, model, history, budgets), folded into one button. It opens when
 * the person wants it, or when a run comes near the end of a budget.
 */
import type { BudgetState } from "./budget-bars.js";
import { element } from "./element.js";
import { icon } from "./icon.js";

export class Controls {
  readonly element: HTMLElement;
  readonly toggle = element("button", {
    type: "button",
    class: "ghost small controls-toggle",
    "aria-controls": "controls",
    click: () => this.#setOpen(this.element.hidden === true, "person"),
  });
  #openedBy: "person" | "run" | undefined;
  #mode = "";
  #model = "";
  #budget: { share: string; state: BudgetState } = { share: "", state: "fine" };

  constructor(switches: readonly HTMLElement[], bars: HTMLElement) {
    this.element = element(
      "section",
      { class: "controls", id: "controls", "aria-label": "Controls", hidden: true },
      element("div", { class: "switches" }, ...switches),
      bars,
    );
    this.#setOpen(false, undefined);
  }

  showMode(label: string): void {
    this.#mode = label;
    this.#label();
  }

  showModel(name: string): void {
    this.#model = name;
    this.#label();
  }

  /** `share` is that of the budget that is used most, in words. */
  showBudget(share: string, state: BudgetState): void {
    const before = this.#budget.state;
    this.#budget = { share, state };
    if (state !== "fine" && before === "fine" && this.element.hidden) this.#setOpen(true, "run");
    else if (state === "fine" && this.#openedBy === "run") this.#setOpen(false, undefined);
    else this.#label();
  }

  #setOpen(isOpen: boolean, by: "person" | "run" | undefined): void {
    this.#openedBy = isOpen ? by : undefined;
    this.element.hidden = !isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    this.#label();
  }

  #label(): void {
    const { share, state } = this.#budget;
    this.toggle.dataset["state"] = state;
    this.toggle.setAttribute("aria-label", `Controls: ${this.#mode}, ${this.#model}, budget ${share}`);
    this.toggle.replaceChildren(
      icon("sliders"),
      element("span", { class: "chosen" }, `${this.#mode} · ${this.#model}`),
      element("span", {}, "Budget"),
      element("span", { class: "share" }, share),
    );
  }
}
