/**
 * One tool call: its arguments as they are written, its progress, its result or error, and its time; and what the
 * agent does that answers it.
 */
import type { PermissionResult, Reconciliation, RunEventOf } from "looplet";
import { duration, shown } from "./amount.js";
import { Approval, type PermissionQuestion } from "./approval.js";
import { changedLines } from "./changed-lines.js";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";
import { icon, type IconName } from "./icon.js";
import { Reconcile } from "./reconcile.js";

type State = "writing" | "waiting" | "asking" | "running" | "done" | "denied" | "failed" | "unfinished";

const states: Record<State, { label: string; icon: IconName }> = {
  writing: { label: "writing arguments", icon: "spinner" },
  waiting: { label: "called", icon: "spinner" },
  asking: { label: "needs your approval", icon: "shield" },
  running: { label: "running", icon: "spinner" },
  done: { label: "done", icon: "check" },
  denied: { label: "denied", icon: "close" },
  failed: { label: "failed", icon: "alert" },
  unfinished: { label: "not finished", icon: "stop" },
};

/** What waits for the person inside a card. */
export interface Asking {
  readonly element: HTMLElement;
  focus(): void;
}

/** A card that is taller than this when its call has been answered folds to one line. */
const maxOpenPx = 320;

export class ToolCard {
  readonly element: HTMLElement;
  readonly #details: HTMLDetailsElement;
  readonly #name: string;
  readonly #state = element("span", { class: "state" });
  readonly #brief = element("code", { class: "brief" });
  readonly #input = element("pre", { class: "input", tabindex: 0, "aria-label": "Arguments" });
  readonly #inputLabel = element("p", { class: "part-label" }, "Arguments");
  readonly #body = element("div", { class: "card-body" }, this.#inputLabel, this.#input);
  #approval: Asking | undefined;
  #progress: { bar: HTMLProgressElement; text: HTMLElement } | undefined;
  #inside: HTMLElement | undefined;
  #text = "";
  /** The arguments as the model wrote them. */
  #written: unknown;
  #isWriting = true;
  /** The person has opened or folded the card: it stays so. */
  #isTouched = false;

  constructor(name: string) {
    this.#name = name;
    this.#details = element(
      "details",
      { class: "card", open: true },
      element(
        "summary",
        { click: () => (this.#isTouched = true) },
        this.#state,
        element("span", { class: "name" }, name),
        this.#brief,
      ),
      this.#body,
    );
    this.element = element("article", { class: "tool", "aria-label": `Tool call ${name}` }, this.#details);
    this.#show("writing");
  }

  write(text: string): void {
    this.#text += text;
    drawSoon(this);
  }

  draw(): void {
    if (this.#isWriting) this.#input.textContent = this.#text;
  }

  call(input: unknown): void {
    // A run that goes on tells the calls of its round again.
    if (this.#isOver) return;
    this.#isWriting = false;
    this.#written = input;
    this.#input.textContent = shown(input);
    this.#brief.textContent = brief(input);
    this.#show("waiting");
  }

  /** The call waits for the person. `answer` says what they decided. */
  ask(question: PermissionQuestion, schema: unknown, answer: (result: PermissionResult) => void): Asking {
    const approval = new Approval(question, schema, (result) => {
      if (result.behavior === "allow" && result.updatedInput !== undefined) this.#edited(result.updatedInput);
      answer(result);
    });
    return this.#hold(approval);
  }

  /** Nobody knows what became of the call. */
  reconcile(answer: (result: Reconciliation) => void): Asking {
    return this.#hold(new Reconcile(this.#name, answer));
  }

  get #isOver(): boolean {
    return ["done", "denied", "failed", "unfinished"].includes(this.element.dataset["state"] ?? "");
  }

  #hold(asking: Asking): Asking {
    this.#approval?.element.remove();
    this.#approval = asking;
    this.element.append(asking.element);
    this.#show("asking");
    return asking;
  }

  /** The question is closed, whoever closed it. */
  answered(): void {
    if (!this.#approval) return;
    this.#approval.element.remove();
    this.#approval = undefined;
    this.#show("waiting");
  }

  /** The place for what the agent says and does that answers the call. */
  nest(): HTMLElement {
    this.#inside ??= element("div", {
      class: "subagent",
      role: "group",
      "aria-label": `Agent ${this.#name}`,
    });
    this.element.classList.add("delegating");
    this.#body.append(element("p", { class: "part-label" }, `Agent ${this.#name}`), this.#inside);
    this.#show("running");
    return this.#inside;
  }

  report(data: unknown): void {
    const { done, total } = measure(data);
    this.#progress ??= this.#addProgress();
    const { bar, text } = this.#progress;
    if (total !== undefined) bar.max = total;
    if (done === undefined) bar.removeAttribute("value");
    else bar.value = done;
    text.textContent = progressText(data);
    this.#show("running");
  }

  succeed({ output, durationMs }: RunEventOf<"tool-result">): void {
    this.#end("done", durationMs);
    this.#body.append(
      element("p", { class: "part-label" }, "Result"),
      element("pre", { class: "output", tabindex: 0, "aria-label": "Result" }, shown(output)),
    );
    if (!this.#isTouched && this.element.offsetHeight > maxOpenPx) this.#details.open = false;
  }

  fail({ error, durationMs }: RunEventOf<"tool-error">): void {
    // Nothing is wrong with a call that was never made or that the user stopped.
    const isOver = error.code === "cancelled" || error.code === "not_run";
    if (error.code === "denied") return this.#denied(error.message);
    this.#end(isOver ? "unfinished" : "failed", durationMs);
    if (isOver) return;
    this.#body.append(
      element("p", { class: "part-label" }, "Error"),
      element("p", { class: "fault" }, element("code", {}, error.code), ` ${error.message}`),
      ...(error.hint ? [element("p", { class: "quiet" }, `Told to the model: ${error.hint}`)] : []),
    );
  }

  /** The run is over: what still runs will never report. */
  close(): void {
    this.answered();
    if (this.#isOver) return;
    this.#progress?.bar.remove();
    this.#show("unfinished");
  }

  /** A result that a journal has. One that only says that the call never ran leaves the card as it is. */
  restore(output: string, isError: boolean): void {
    if (isError && output.includes('"not_run"')) return;
    this.#show(isError ? "failed" : "done");
    this.#body.append(
      element("p", { class: "part-label" }, isError ? "Error" : "Result"),
      element("pre", { class: "output", tabindex: 0, "aria-label": "Result" }, output),
    );
    if (!this.#isTouched && this.element.offsetHeight > maxOpenPx) this.#details.open = false;
  }

  #denied(message: string): void {
    this.answered();
    this.#show("denied");
    this.#body.append(
      element("p", { class: "part-label" }, "Told to the model"),
      element("p", { class: "quiet" }, message),
    );
  }

  #edited(input: unknown): void {
    this.#inputLabel.textContent = "Arguments, as you edited them";
    this.#input.replaceChildren(...changedLines(this.#written, input));
    this.#brief.textContent = brief(input);
  }

  #end(state: State, durationMs: number): void {
    this.#progress?.bar.remove();
    this.#show(state, durationMs);
  }

  #addProgress() {
    const bar = element("progress", { max: 1, "aria-label": "Progress" });
    const text = element("span", { class: "quiet" });
    this.#body.append(element("div", { class: "progress" }, bar, text));
    return { bar, text };
  }

  #show(state: State, durationMs?: number): void {
    this.element.dataset["state"] = state;
    const { label, icon: name } = states[state];
    const time = durationMs === undefined ? label : `${label} · ${duration(durationMs)}`;
    this.#state.replaceChildren(icon(name), element("span", { class: "label" }, time));
  }
}

function measure(data: unknown): { done?: number; total?: number } {
  if (typeof data !== "object" || data === null) return {};
  const { done, total } = data as Record<string, unknown>;
  return { ...(typeof done === "number" ? { done } : {}), ...(typeof total === "number" ? { total } : {}) };
}

function progressText(data: unknown): string {
  if (typeof data !== "object" || data === null) return shown(data);
  const { done, total, ...rest } = data as Record<string, unknown>;
  const more = Object.entries(rest).map(([name, value]) => `${name}: ${shown(value)}`);
  return [total === undefined ? shown(done ?? "") : `${shown(done)} of ${shown(total)}`, ...more]
    .filter(Boolean)
    .join(" · ");
}

function brief(input: unknown): string {
  if (typeof input !== "object" || input === null) return shown(input);
  return Object.values(input)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(", ");
}
