/**
 * The trace of a run as a waterfall: a table with a row per step and a bar that says when it went on. Each step opens
 * to what is known about it.
 */
import { duration } from "./amount.js";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";
import { icon } from "./icon.js";
import type { RunTrace, Step } from "./run-trace.js";

const kinds: Record<Step["kind"], string> = {
  agent: "agent",
  iteration: "iteration",
  model: "model call",
  tool: "tool",
  wait: "wait",
};

/** Runs that can be looked back at. */
const maxRuns = 20;
const tickMs = 250;

interface Row {
  row: HTMLTableRowElement;
  button: HTMLButtonElement;
  name: HTMLElement;
  bar: HTMLElement;
  begins: HTMLElement;
  took: HTMLElement;
  more: HTMLTableRowElement;
  facts: HTMLElement;
}

export class Waterfall {
  readonly #panel: HTMLElement;
  readonly #runs: { name: string; trace: RunTrace; isLive: boolean }[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #body = element("tbody");
  readonly #axis = element("span", { class: "axis", "aria-hidden": "true" });
  readonly #which = element("select", { "aria-label": "Run", input: () => this.#show() });
  readonly #table = element(
    "table",
    { class: "waterfall" },
    element("caption", { class: "hidden" }, "Steps of the run: when each began and how long it took"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "Step"),
        element("th", { scope: "col" }, element("span", { class: "hidden" }, "Time"), this.#axis),
        element("th", { scope: "col", class: "took" }, "Took"),
      ),
    ),
    this.#body,
  );
  readonly #empty = element(
    "p",
    { class: "quiet empty" },
    "Ask something: every iteration, model call, tool and wait becomes a bar here.",
  );
  readonly #legend = element(
    "ul",
    { class: "legend", "aria-label": "Meaning of the bars" },
    ...Object.entries(kinds).map(([kind, label]) => sample({ "data-kind": kind }, label)),
    sample({ "data-kind": "model", "data-state": "failed" }, "failed"),
  );
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(panel: HTMLElement, close: () => void) {
    this.#panel = panel;
    panel.append(
      element(
        "header",
        {},
        element("h2", {}, "Trace"),
        element("span", { class: "count" }, this.#which),
        element(
          "button",
          {
            type: "button",
            class: "ghost small",
            title: "The spans as NDJSON, in the words of OpenTelemetry",
            click: () => void this.#copy(),
          },
          "Copy",
        ),
        element(
          "button",
          { type: "button", class: "ghost small", "aria-label": "Close the trace", click: close },
          icon("close"),
        ),
      ),
      this.#empty,
      element("div", { class: "chart" }, this.#table),
      this.#legend,
    );
    this.#body.addEventListener("keydown", (event) => this.#walk(event));
    this.#show();
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  setOpen(isOpen: boolean): void {
    this.#panel.hidden = !isOpen;
    if (isOpen) this.draw();
    this.#tick();
  }

  start(name: string, trace: RunTrace): void {
    for (const run of this.#runs) run.isLive = false;
    this.#runs.push({ name, trace, isLive: true });
    if (this.#runs.length > maxRuns) this.#runs.shift();
    this.#which.replaceChildren(...this.#runs.map(({ name }, at) => element("option", { value: at }, name)));
    this.#which.value = String(this.#runs.length - 1);
    this.#show();
  }

  /** There is something new in the run that goes on. */
  readonly changed = (): void => {
    if (this.isOpen) drawSoon(this);
  };

  settle(): void {
    for (const run of this.#runs) run.isLive = false;
    this.#tick();
    this.changed();
  }

  clear(): void {
    this.#runs.length = 0;
    this.#which.replaceChildren();
    this.#show();
  }

  draw(): void {
    const run = this.#shown;
    const root = run?.trace.root;
    if (!run || !root || !this.isOpen) return;
    const nowMs = run.isLive ? Date.now() : (root.endMs ?? root.startMs);
    const spanMs = Math.max(1, (root.endMs ?? nowMs) - root.startMs);
    this.#axis.replaceChildren(...[0, 0.5, 1].map((share) => element("span", {}, duration(spanMs * share))));
    let last: Element | null = null;
    const place = (step: Step, depth: number): void => {
      const view = this.#rows.get(step.id) ?? this.#add(step, depth);
      update(view, step, root.startMs, spanMs, nowMs);
      for (const row of [view.row, view.more]) {
        const next: Element | null = last === null ? this.#body.firstElementChild : last.nextElementSibling;
        if (next !== row) this.#body.insertBefore(row, next);
        last = row;
      }
      for (const child of step.children) place(child, depth + 1);
    };
    place(root, 0);
  }

  get #shown() {
    return this.#runs[Number(this.#which.value)];
  }

  #show(): void {
    this.#rows.clear();
    this.#body.replaceChildren();
    const isEmpty = this.#runs.length === 0;
    this.#empty.hidden = !isEmpty;
    this.#table.hidden = isEmpty;
    this.#legend.hidden = isEmpty;
    this.#which.hidden = isEmpty;
    this.#tick();
    this.draw();
  }

  #tick(): void {
    clearInterval(this.#timer);
    this.#timer = this.isOpen && this.#shown?.isLive ? setInterval(() => drawSoon(this), tickMs) : undefined;
  }

  #add(step: Step, depth: number): Row {
    const name = element("span", { class: "name" });
    const begins = element("span", { class: "hidden" });
    const bar = element("span", { class: "stretch", "aria-hidden": "true" });
    const took = element("td", { class: "took" });
    const facts = element("dl");
    const more = element(
      "tr",
      { class: "more", hidden: true },
      element("td", { colspan: 3, tabindex: 0, "aria-label": "What is known" }, facts),
    );
    const button = element(
      "button",
      { type: "button", class: "ghost small", "aria-expanded": "false" },
      name,
      element("span", { class: "hidden" }, ` (${kinds[step.kind]})`),
    );
    button.addEventListener("click", () => {
      more.hidden = more.hidden === false;
      button.setAttribute("aria-expanded", String(!more.hidden));
    });
    const row = element(
      "tr",
      { "data-kind": step.kind },
      element("th", { scope: "row" }, button),
      element("td", { class: "lane" }, bar, begins),
      took,
    );
    row.style.setProperty("--depth", String(Math.min(depth, 8)));
    const view = { row, button, name, bar, begins, took, more, facts };
    this.#rows.set(step.id, view);
    return view;
  }

  /** Up and down go from step to step. */
  #walk(event: KeyboardEvent): void {
    const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const buttons = [...this.#body.querySelectorAll("button")];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (way === 0 || at < 0) return;
    event.preventDefault();
    buttons[at + way]?.focus();
  }

  async #copy(): Promise<void> {
    const spans = this.#shown?.trace.spans ?? [];
    await navigator.clipboard.writeText(spans.map((span) => JSON.stringify(span)).join("\n"));
  }
}

function sample(attributes: Record<string, string>, label: string): HTMLElement {
  const lane = element(
    "span",
    { class: "lane", "aria-hidden": "true" },
    element("span", { class: "stretch" }),
  );
  return element("li", attributes, lane, label);
}

function update(view: Row, step: Step, zeroMs: number, spanMs: number, nowMs: number): void {
  const { row, name, bar, begins, took, facts } = view;
  const endMs = step.endMs ?? nowMs;
  const tookMs = Math.max(0, endMs - step.startMs);
  const isHeld = step.isHeld && step.endMs === undefined;
  const heldMs = Math.max(0, (step.ranFromMs ?? (isHeld ? endMs : step.startMs)) - step.startMs);
  if (name.textContent !== step.name) name.textContent = step.name;
  name.title = step.name;
  row.dataset["state"] = step.error !== undefined ? "failed" : step.endMs === undefined ? "open" : "done";
  bar.style.setProperty("--from", String((step.startMs - zeroMs) / spanMs));
  bar.style.setProperty("--share", String(tookMs / spanMs));
  bar.style.setProperty("--held", String(tookMs > 0 ? heldMs / tookMs : 0));
  begins.textContent = `from ${duration(Math.max(0, step.startMs - zeroMs))}`;
  took.textContent = isHeld ? "waits" : duration(tookMs);
  const known: Record<string, unknown> = {
    start: duration(Math.max(0, step.startMs - zeroMs)),
    took: step.endMs === undefined ? "goes on" : duration(tookMs),
    ...(heldMs > 0 && step.endMs !== undefined && { ran: duration(tookMs - heldMs) }),
    ...step.facts,
  };
  const text = JSON.stringify(known);
  if (facts.dataset["text"] === text) return;
  facts.dataset["text"] = text;
  facts.replaceChildren(
    ...Object.entries(known).flatMap(([key, value]) => [
      element("dt", {}, key),
      element("dd", {}, Array.isArray(value) ? value.join(", ") : String(value)),
    ]),
  );
}
