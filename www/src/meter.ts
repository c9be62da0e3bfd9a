/** The line above the field: what goes on, and what all runs of the chat have used. */
import type { RunEvent, RunResult } from "looplet";
import { cost, counted } from "./amount.js";
import { element } from "./element.js";
import type { Tally } from "./tally.js";

export class Meter {
  readonly #phase = element("span", { class: "phase", role: "status" });
  readonly #figures = element("span", {
    class: "figures",
    role: "group",
    title: "All runs of this chat",
    "aria-label": "All runs of this chat",
  });
  /** Leads to the call that waits for the person. */
  readonly #review: HTMLButtonElement;
  readonly element: HTMLElement;
  #tallies: Tally[] = [];
  #isLive = false;

  /** `toggle` stands at the end of the line. */
  constructor(toggle: HTMLElement, review: () => void) {
    this.#review = element(
      "button",
      { type: "button", class: "small primary", hidden: true, click: review },
      "Review",
    );
    this.element = element(
      "div",
      { class: "meter" },
      element("span", { class: "now" }, this.#phase, this.#review),
      this.#figures,
      toggle,
    );
    this.clear();
  }

  /** How many calls wait for the person. */
  waitFor(open: number): void {
    this.#review.hidden = open === 0;
    if (open > 0) this.#say(`${counted(open, "call")} ${open === 1 ? "waits" : "wait"} for you`);
    else if (this.#isLive) this.#say("Running tools");
  }

  start(tally: Tally): void {
    this.#isLive = true;
    this.#tallies.push(tally);
    this.#say("Starting");
  }

  handle(event: RunEvent): void {
    const phase = phaseOf(event);
    const { agentPath } = event;
    const who = agentPath === "root" ? "" : `${agentPath.slice(agentPath.lastIndexOf("/") + 1)}: `;
    if (phase && this.#review.hidden) this.#say(who + phase);
    else if (event.type === "usage") this.#draw();
  }

  settle({ outcome }: RunResult): void {
    this.#isLive = false;
    this.#review.hidden = true;
    this.#say(ends[outcome]);
  }

  clear(): void {
    this.#isLive = false;
    this.#review.hidden = true;
    this.#tallies = [];
    this.#say("Ready");
  }

  #say(phase: string): void {
    if (this.#phase.textContent !== phase) this.#phase.textContent = phase;
    this.#draw();
  }

  #draw(): void {
    if (this.#tallies.length === 0) return this.#figures.replaceChildren();
    const sum = (name: "tokens" | "usd") => this.#tallies.reduce((total, { used }) => total + used[name], 0);
    const isKnown = this.#tallies.every(({ isCostKnown }) => isCostKnown);
    this.#figures.replaceChildren(
      element("span", {}, "Chat"),
      element("span", { class: "tokens" }, counted(sum("tokens"), "token")),
      element("span", {}, isKnown ? cost(sum("usd")) : "cost unknown"),
    );
  }
}

const ends: Record<RunResult["outcome"], string> = {
  completed: "Done",
  cancelled: "Stopped",
  stopped: "Limit reached",
  failed: "Failed",
};

function phaseOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case "compact-start":
      return "Summarising the history";
    case "attempt-start":
      return "Waiting for the model";
    case "reasoning-start":
      return "Thinking";
    case "text-start":
      return "Answering";
    case "tool-input-start":
      return `Calling ${event.toolName}`;
    case "tool-call":
      return "Running tools";
    case "retry":
      return "Waiting to try again";
  }
  return undefined;
}
