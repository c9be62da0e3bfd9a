/** What goes on, and what the conversation has come to: phase, iterations, tokens and cost. */
import type { RunEvent, RunResult, Usage } from "looplet";
import { cost, tokens } from "./amount.js";
import { element } from "./element.js";

export class Meter {
  readonly #phase = element("span", { class: "phase", role: "status" });
  readonly #figures = element("span", { class: "figures" });
  /** Leads to the call that waits for the person. */
  readonly #review: HTMLButtonElement;
  readonly element: HTMLElement;
  #runs = 0;
  #past = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0, iterations: 0, isCostKnown: true };
  #live: Usage | undefined;
  #iteration = 0;
  #isLive = false;

  /** `before` and `after` stand in the same line. */
  constructor(before: HTMLElement, after: HTMLElement, review: () => void) {
    this.#review = element(
      "button",
      { type: "button", class: "small primary", hidden: true, click: review },
      "Review",
    );
    this.element = element(
      "div",
      { class: "meter" },
      before,
      element("span", { class: "now" }, this.#phase, this.#review),
      this.#figures,
      after,
    );
    this.clear();
  }

  /** How many calls wait for the person. */
  waitFor(open: number): void {
    this.#review.hidden = open === 0;
    if (open > 0) this.#say(`${open} ${open === 1 ? "call waits" : "calls wait"} for you`);
    else if (this.#isLive) this.#say("Running tools");
  }

  start(): void {
    this.#isLive = true;
    this.#runs += 1;
    this.#live = undefined;
    this.#iteration = 0;
    this.#say("Starting");
  }

  handle(event: RunEvent): void {
    if (event.type === "usage") this.#live = event.total;
    const isRoot = event.agentPath === "root";
    if (event.type === "iteration-start" && isRoot) this.#iteration = event.iteration;
    const phase = phaseOf(event);
    const who = isRoot ? "" : `${event.agentPath.slice(event.agentPath.lastIndexOf("/") + 1)}: `;
    if (phase && this.#review.hidden) this.#say(who + phase);
    else if (event.type === "usage") this.#draw();
  }

  settle({ outcome, usage, costNanoUsd, iterations }: RunResult): void {
    this.#isLive = false;
    this.#review.hidden = true;
    const past = this.#past;
    this.#past = {
      inputTokens: past.inputTokens + usage.inputTokens,
      outputTokens: past.outputTokens + usage.outputTokens,
      costNanoUsd: past.costNanoUsd + (costNanoUsd ?? 0),
      iterations: past.iterations + iterations,
      isCostKnown: past.isCostKnown && costNanoUsd !== null,
    };
    this.#live = undefined;
    this.#iteration = 0;
    this.#say(
      outcome === "completed"
        ? "Done"
        : outcome === "cancelled"
          ? "Stopped"
          : outcome === "stopped"
            ? "Stopped by a limit"
            : "Failed",
    );
  }

  clear(): void {
    this.#isLive = false;
    this.#review.hidden = true;
    this.#runs = 0;
    this.#past = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0, iterations: 0, isCostKnown: true };
    this.#live = undefined;
    this.#say("Ready");
  }

  #say(phase: string): void {
    if (this.#phase.textContent !== phase) this.#phase.textContent = phase;
    this.#draw();
  }

  #draw(): void {
    const { inputTokens, outputTokens, costNanoUsd, iterations, isCostKnown } = this.#past;
    if (this.#runs === 0) return this.#figures.replaceChildren();
    const facts = [
      `iteration ${iterations + this.#iteration}`,
      `${tokens(inputTokens + (this.#live?.inputTokens ?? 0))} in`,
      `${tokens(outputTokens + (this.#live?.outputTokens ?? 0))} out`,
      // What the run costs is known when it ends.
      ...(this.#isLive ? [] : [cost(isCostKnown ? costNanoUsd : null)]),
    ];
    this.#figures.replaceChildren(...facts.map((fact) => element("span", {}, fact)));
    this.#figures.title = "The whole conversation";
  }
}

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
