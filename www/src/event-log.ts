/** Every event of the conversation's runs, as looplet delivers it: filterable, each opens to its JSON. */
import type { RunEvent } from "looplet";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";
import { icon } from "./icon.js";

const groups = {
  run: /^(?:run|agent|iteration|attempt|finish|abort|error|snapshot|steer)/,
  text: /^(?:text|reasoning)/,
  tools: /^(?:tool|question|answered)/,
  trouble: /^(?:retry|reset|warning|error|abort)/,
  usage: /^usage/,
};

/** Older rows are forgotten: a long run must not fill the page. */
const maxRows = 2000;

export class EventLog {
  readonly #panel: HTMLElement;
  readonly #list = element("ol", { class: "rows", tabindex: 0, "aria-label": "Events" });
  readonly #count = element("span", { class: "quiet count" });
  readonly #words = element("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": "Filter events",
  });
  readonly #group = element(
    "select",
    { "aria-label": "Kind of events" },
    element("option", { value: "" }, "all events"),
    ...Object.keys(groups).map((name) => element("option", { value: name }, name)),
  );
  readonly #pending: { event: RunEvent; atMs: number }[] = [];
  #startedMs: number | undefined;
  #total = 0;

  constructor(panel: HTMLElement, close: () => void) {
    this.#panel = panel;
    panel.append(
      element(
        "header",
        {},
        element("h2", {}, "Events"),
        this.#count,
        element("button", { type: "button", class: "ghost small", click: () => void this.#copy() }, "Copy"),
        element(
          "button",
          { type: "button", class: "ghost small", "aria-label": "Close the event log", click: close },
          icon("close"),
        ),
      ),
      element("div", { class: "filters" }, this.#words, this.#group),
      this.#list,
    );
    for (const filter of [this.#words, this.#group]) filter.addEventListener("input", () => this.#filter());
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  setOpen(isOpen: boolean): void {
    this.#panel.hidden = !isOpen;
    if (!isOpen) return;
    this.#list.scrollTop = this.#list.scrollHeight;
    this.#words.focus();
  }

  start(): void {
    this.#startedMs = undefined;
  }

  add(event: RunEvent, timeMs: number): void {
    this.#total += 1;
    this.#startedMs ??= timeMs;
    this.#pending.push({ event, atMs: timeMs - this.#startedMs });
    drawSoon(this);
  }

  draw(): void {
    const isAtEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 40;
    for (const { event, atMs } of this.#pending.splice(0)) this.#list.append(row(event, atMs));
    while (this.#list.childElementCount > maxRows) this.#list.firstElementChild?.remove();
    this.#filter();
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  clear(): void {
    this.#pending.length = 0;
    this.#list.replaceChildren();
    this.#total = 0;
    this.#filter();
  }

  #filter(): void {
    const words = this.#words.value.trim().toLowerCase();
    const group = groups[this.#group.value as keyof typeof groups];
    let shown = 0;
    for (const item of this.#list.children as HTMLCollectionOf<HTMLElement>) {
      const fits =
        (!group || group.test(item.dataset["type"] ?? "")) &&
        (item.textContent ?? "").toLowerCase().includes(words);
      item.hidden = !fits;
      if (fits) shown += 1;
    }
    this.#count.textContent = shown === this.#total ? `${shown}` : `${shown} of ${this.#total}`;
  }

  async #copy(): Promise<void> {
    const rows = [...this.#list.querySelectorAll<HTMLElement>("li:not([hidden]) pre")];
    await navigator.clipboard.writeText(
      rows.map((json) => JSON.stringify(JSON.parse(json.textContent ?? "null"))).join("\n"),
    );
  }
}

function row(event: RunEvent, atMs: number): HTMLElement {
  const { seq, type } = event;
  return element(
    "li",
    { "data-type": type },
    element(
      "details",
      {},
      element(
        "summary",
        {},
        element("span", { class: "seq" }, String(seq)),
        element("span", { class: "type" }, type),
        element("span", { class: "gist" }, gist(event)),
        element("span", { class: "at" }, `${(atMs / 1000).toFixed(2)} s`),
      ),
      element("pre", { tabindex: 0 }, JSON.stringify(event, null, 2)),
    ),
  );
}

function gist(event: RunEvent): string {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return event.text;
    case "tool-input-start":
    case "tool-call":
    case "tool-progress":
    case "tool-result":
      return event.toolName;
    case "tool-error":
      return `${event.toolName}: ${event.error.code}`;
    case "usage":
      return `${event.total.inputTokens} in, ${event.total.outputTokens} out`;
    case "iteration-finish":
      return event.finishReason ?? "";
    case "retry":
      return event.error.code;
    case "error":
      return event.error.code;
    case "warning":
      return event.code;
    case "finish":
      return event.outcome.outcome;
    case "run-start":
      return event.model;
  }
  return "";
}
