/** What the run has used of each of its budgets, as bars: live while it goes on, final when it has ended. */
import type { RunEvent, RunResult } from "looplet";
import { budgetNames, budgetOf, budgets, type BudgetName, type Limits } from "./budget.js";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";

/** From this share on a bar warns. */
const nearlyUsed = 0.8;
const tickMs = 250;

interface Bar {
  item: HTMLElement;
  track: HTMLElement;
  amount: HTMLElement;
}

export class BudgetBars {
  readonly #list = element("ul", { class: "budgets", id: "budgets", "aria-label": "Budgets of the run" });
  readonly element = this.#list;
  /** Opens and closes the bars; says how much is used of the budget that is used most. */
  readonly toggle = element("button", {
    type: "button",
    class: "ghost small",
    "aria-controls": "budgets",
    click: () => this.#setOpen(this.#list.hidden === true),
  });
  readonly #bars = new Map<BudgetName, Bar>();
  readonly #used: Record<BudgetName, number> = {
    iterations: 0,
    tool_rounds: 0,
    tool_calls: 0,
    tokens: 0,
    usd: 0,
    time: 0,
  };
  #limits: Limits = {};
  #isCostKnown = true;
  /** The iteration whose round is counted: with its first call. */
  #roundOf = 0;
  #startedMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #spent: BudgetName | undefined;

  constructor(limits: Limits) {
    this.#setOpen(matchMedia("(min-width: 42rem)").matches);
    this.show(limits);
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
    this.#list.classList.toggle("none", this.#bars.size === 0);
    this.draw();
  }

  start(): void {
    this.clear();
    this.#startedMs = performance.now();
    this.#timer = setInterval(() => drawSoon(this), tickMs);
  }

  handle(event: RunEvent): void {
    // Subagents count their own iterations and calls; tokens, cost and time are the whole run's.
    const isRoot = event.agentPath === "root";
    if (event.type === "iteration-start" && isRoot) this.#used.iterations += 1;
    else if (event.type === "tool-call" && isRoot) {
      this.#used.tool_calls += 1;
      if (event.iteration !== this.#roundOf) this.#used.tool_rounds += 1;
      this.#roundOf = event.iteration;
    } else if (event.type === "usage") {
      this.#used.tokens = event.total.inputTokens + event.total.outputTokens;
      this.#setCost(event.total.costNanoUsd);
    } else return;
    drawSoon(this);
  }

  settle(result: RunResult): void {
    this.#stopClock();
    this.#used.tokens = result.usage.inputTokens + result.usage.outputTokens;
    this.#setCost(result.costNanoUsd);
    this.#spent = result.stoppedBy && budgetOf(result.stoppedBy);
    this.draw();
  }

  clear(): void {
    this.#stopClock();
    for (const name of budgetNames) this.#used[name] = 0;
    this.#roundOf = 0;
    this.#isCostKnown = true;
    this.#startedMs = 0;
    this.#spent = undefined;
    this.draw();
  }

  draw(): void {
    if (this.#timer !== undefined) this.#used.time = (performance.now() - this.#startedMs) / 1000;
    let most = 0;
    for (const [name, { item, track, amount }] of this.#bars) {
      const limit = this.#limits[name] ?? Infinity;
      const used = this.#used[name];
      const isKnown = name !== "usd" || this.#isCostKnown;
      const share = isKnown ? Math.min(1, used / limit) : 0;
      const isSpent = this.#spent === name;
      most = Math.max(most, share);
      const { show } = budgets[name];
      const text = isKnown ? show(used, limit) : "unknown";
      amount.textContent = text;
      item.title = isSpent ? `This budget stopped the run: ${text}` : "";
      item.dataset["state"] = isSpent ? "spent" : share >= nearlyUsed ? "near" : "fine";
      track.style.setProperty("--share", String(isSpent ? 1 : share));
      track.setAttribute("aria-valuenow", String(Math.min(used, limit)));
      track.setAttribute(
        "aria-valuetext",
        isSpent ? `${text}, used up` : isKnown ? text : "The model's price is not known",
      );
    }
    this.toggle.dataset["state"] = this.#spent ? "spent" : most >= nearlyUsed ? "near" : "fine";
    this.toggle.replaceChildren(
      "Budget",
      element("span", { class: "share" }, this.#bars.size === 0 ? "none" : `${Math.round(most * 100)} %`),
    );
  }

  #setOpen(isOpen: boolean): void {
    this.#list.hidden = !isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
  }

  #setCost(nanoUsd: number | null): void {
    this.#isCostKnown = nanoUsd !== null;
    this.#used.usd = (nanoUsd ?? 0) / 1e9;
  }

  #stopClock(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#startedMs > 0) this.#used.time = (performance.now() - this.#startedMs) / 1000;
  }
}
