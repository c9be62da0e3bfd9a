/** What a run has used of each of its budgets, as bars: live while it goes on, final when it has ended. */
import { budgetNames, budgetOf, budgets, type BudgetName, type Limits } from "./budget.js";
import type { RunBound } from "looplet";
import { cost, counted } from "./amount.js";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";
import { Tally } from "./tally.js";

/** From this share on a bar warns. */
const nearlyUsed = 0.8;
const tickMs = 250;

export type BudgetState = "fine" | "near" | "spent";

interface Bar {
  item: HTMLElement;
  track: HTMLElement;
  amount: HTMLElement;
}

export class BudgetBars {
  readonly #list = element("ul", { class: "budgets", "aria-label": "Budgets of the run" });
  readonly #bound = element("p", { class: "bound quiet" });
  readonly element = element(
    "div",
    { class: "bars" },
    element("p", { class: "part-label" }, "Used by this run"),
    this.#list,
    this.#bound,
  );
  readonly #bars = new Map<BudgetName, Bar>();
  readonly #changed: (share: string, state: BudgetState) => void;
  #tally = new Tally();
  #limits: Limits;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Contract of `changed`: hears how much is used of the budget that is used most. */
  constructor(limits: Limits, changed: (share: string, state: BudgetState) => void) {
    this.#limits = limits;
    this.#changed = changed;
  }

  /** Other limits: bars of budgets without one disappear. */
  show(limits: Limits): void {
    this.#limits = limits;
    this.#bars.clear();
    for (const name of budgetNames) {
      if (limits[name] === undefined) continue;
      const amount = element("span", { class: "amount" });
      const track = element("div", {
        class: "track",
        role: "meter",
        "aria-label": budgets[name].label,
        "aria-valuemin": 0,
        "aria-valuemax": limits[name],
      });
      const item = element(
        "li",
        { "data-budget": name },
        element("span", { class: "label" }, budgets[name].label),
        amount,
        track,
      );
      this.#bars.set(name, { item, track, amount });
    }
    this.#list.replaceChildren(...[...this.#bars.values()].map(({ item }) => item));
    this.#list.hidden = this.#bars.size === 0;
    this.draw();
  }

  /** What the next run may cost at most. */
  showBound({ costUsd, requests, unbounded }: RunBound): void {
    this.#bound.textContent =
      costUsd === null
        ? `Nothing limits what the next run may cost: no ${unbounded.join(", no ")}.`
        : `The next run costs at most ${cost(costUsd)}${requests === null ? "" : `, in ${counted(requests, "request")} at most`}.`;
    this.#bound.title =
      "agent.bound(prompt): the budget, and one request more for each agent that can be at work";
  }

  start(tally: Tally): void {
    this.#tally = tally;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => drawSoon(this), tickMs);
    this.draw();
  }

  /** The tally has grown. */
  grow(): void {
    drawSoon(this);
  }

  settle(): void {
    clearInterval(this.#timer);
    this.draw();
  }

  clear(): void {
    this.#tally = new Tally();
    this.settle();
  }

  draw(): void {
    this.#tally.tick(Date.now());
    const { used: amounts, isCostKnown, stoppedBy } = this.#tally;
    const spent = stoppedBy && budgetOf(stoppedBy);
    let most = 0;
    for (const [name, { item, track, amount }] of this.#bars) {
      const limit = this.#limits[name] ?? Infinity;
      const used = amounts[name];
      const isKnown = name !== "usd" || isCostKnown;
      const share = isKnown ? Math.min(1, used / limit) : 0;
      const isSpent = spent === name;
      most = Math.max(most, isSpent ? 1 : share);
      const text = isKnown ? budgets[name].show(used, limit) : "unknown";
      amount.textContent = text;
      item.title = isSpent ? `This budget stopped the run: ${text}` : "";
      item.dataset["state"] = isSpent ? "spent" : stateOf(share);
      track.style.setProperty("--share", String(isSpent ? 1 : share));
      track.setAttribute("aria-valuenow", String(Math.min(used, limit)));
      track.setAttribute(
        "aria-valuetext",
        isSpent ? `${text}, used up` : isKnown ? text : "The model's price is not known",
      );
    }
    this.#changed(
      this.#bars.size === 0 ? "none" : `${Math.round(most * 100)} %`,
      spent ? "spent" : stateOf(most),
    );
  }
}

const stateOf = (share: number): BudgetState => (share >= nearlyUsed ? "near" : "fine");
