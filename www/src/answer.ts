/**
 * What one run puts into the transcript, in the order of its events: reasoning, text, tool cards, retries, and a last
 * line with what it cost. Blocks are found by iteration, attempt and number; a `reset` takes those of an attempt back.
 */
import type { RunEvent, RunEventOf, RunResult } from "looplet";
import { cost, duration, tokens } from "./amount.js";
import { element } from "./element.js";
import { explain, type Explanation } from "./failure.js";
import { drawNow } from "./frame.js";
import { Markdown } from "./markdown.js";
import { notice } from "./notice.js";
import { Reasoning } from "./reasoning.js";
import { ToolCard } from "./tool-card.js";

type BlockView = Markdown | Reasoning | ToolCard;

export class Answer {
  readonly #list: HTMLElement;
  readonly #act: (action: NonNullable<Explanation["action"]>) => void;
  readonly #blocks = new Map<string, BlockView>();
  readonly #cards = new Map<string, ToolCard>();
  readonly #startedMs = performance.now();
  #section: HTMLElement | undefined;
  #calls: HTMLElement | undefined;

  constructor(list: HTMLElement, act: (action: NonNullable<Explanation["action"]>) => void) {
    this.#list = list;
    this.#act = act;
  }

  handle(event: RunEvent): void {
    switch (event.type) {
      case "iteration-start":
        this.#calls = undefined;
        return;
      case "text-start":
        return this.#begin(event, new Markdown());
      case "reasoning-start":
        return this.#begin(event, new Reasoning());
      case "tool-input-start":
        return this.#beginCall(event);
      case "text-delta":
      case "reasoning-delta":
        return (this.#blockOf(event) as Markdown | Reasoning | undefined)?.append(event.text);
      case "tool-input-delta":
        return (this.#blockOf(event) as ToolCard | undefined)?.write(event.text);
      case "reasoning-end":
        return (this.#blockOf(event) as Reasoning | undefined)?.end();
      case "tool-call":
        return this.#cardOf(event).call(event.input);
      case "tool-progress":
        return this.#cardOf(event).report(event.data);
      case "tool-result":
        return this.#cardOf(event).succeed(event);
      case "tool-error":
        return this.#cardOf(event).fail(event);
      case "reset":
        return this.#takeBack(event);
      case "retry":
        return this.#say(
          notice(
            "warning",
            `${explain(event.error).title}. Trying again in ${duration(event.delayMs)} (attempt ${event.nextAttempt} of ${event.maxAttempts}).`,
          ),
        );
      case "warning":
        return this.#say(notice("warning", event.message));
    }
  }

  /** A message of the user that has become part of the transcript. */
  heard(bubble: HTMLElement): void {
    this.#leaveSection();
    this.#list.append(bubble);
  }

  settle(result: RunResult): void {
    for (const card of this.#cards.values()) card.close();
    for (const block of this.#blocks.values()) if (block instanceof Reasoning) block.end();
    drawNow();
    if (result.error) this.#sayFailure(explain(result.error));
    else if (result.outcome === "cancelled")
      this.#say(notice("info", "You stopped the run. What arrived stays in the conversation."));
    else if (result.outcome === "stopped")
      this.#say(
        notice(
          "warning",
          `A limit stopped the run (${result.stoppedBy}). Ask it to go on, or raise the limit in the connection.`,
        ),
      );
    this.#current().append(summary(result, performance.now() - this.#startedMs));
    this.#leaveSection();
  }

  #sayFailure({ title, advice, details, action }: Explanation): void {
    const label = { retry: "Try again", connection: "Open the connection", "new-chat": "New chat" };
    const more = [element("p", { class: "quiet" }, advice), element("pre", { tabindex: 0 }, details)];
    const buttons = action && action !== "retry" ? [action, "retry" as const] : ["retry" as const];
    const row = element("p", { class: "actions" });
    for (const name of buttons)
      row.append(
        element("button", { type: "button", class: "small", click: () => this.#act(name) }, label[name]),
      );
    this.#say(notice("error", title, ...more, row));
  }

  #begin(event: { iteration: number; attempt: number; block: number }, view: Markdown | Reasoning): void {
    this.#blocks.set(keyOf(event, event.block), view);
    this.#calls = undefined;
    this.#current().append(view.element);
  }

  #beginCall(event: RunEventOf<"tool-input-start">): void {
    const card = this.#addCard(event.toolCallId, event.toolName);
    this.#blocks.set(keyOf(event, event.block), card);
  }

  // An answer that was not streamed has calls without their beginnings.
  #cardOf({ toolCallId, toolName }: { toolCallId: string; toolName: string }): ToolCard {
    return this.#cards.get(toolCallId) ?? this.#addCard(toolCallId, toolName);
  }

  #addCard(toolCallId: string, toolName: string): ToolCard {
    const card = new ToolCard(toolName);
    this.#cards.set(toolCallId, card);
    if (!this.#calls) {
      this.#calls = element("div", { class: "calls" });
      this.#current().append(this.#calls);
    }
    this.#calls.append(card.element);
    return card;
  }

  #takeBack(event: RunEventOf<"reset">): void {
    for (const block of event.blocks) {
      const key = keyOf(event, block);
      const view = this.#blocks.get(key);
      view?.element.remove();
      this.#blocks.delete(key);
      for (const [id, card] of this.#cards) if (card === view) this.#cards.delete(id);
    }
    if (this.#calls?.childElementCount === 0) this.#calls.remove();
    this.#calls = undefined;
  }

  #blockOf(event: { iteration: number; attempt: number; block: number }): BlockView | undefined {
    return this.#blocks.get(keyOf(event, event.block));
  }

  #say(line: HTMLElement): void {
    this.#calls = undefined;
    this.#current().append(line);
  }

  #current(): HTMLElement {
    if (!this.#section) {
      // Busy until it is whole: a screen reader reads the answer once, not word by word.
      this.#section = element("section", { class: "answer", "aria-label": "Answer", "aria-busy": "true" });
      this.#list.append(this.#section);
    }
    return this.#section;
  }

  #leaveSection(): void {
    this.#section?.setAttribute("aria-busy", "false");
    this.#section = undefined;
    this.#calls = undefined;
  }
}

const keyOf = ({ iteration, attempt }: { iteration: number; attempt: number }, block: number) =>
  `${iteration}.${attempt}.${block}`;

function summary(
  { outcome, iterations, usage, costNanoUsd, finishReason, rawFinishReason, toolCalls }: RunResult,
  tookMs: number,
) {
  const cache = usage.cacheReadTokens ? ` (${tokens(usage.cacheReadTokens)} from cache)` : "";
  const reasoning = usage.reasoningTokens ? ` (${tokens(usage.reasoningTokens)} reasoning)` : "";
  const facts = [
    `${iterations} ${iterations === 1 ? "iteration" : "iterations"}`,
    toolCalls.length ? `${toolCalls.length} tool ${toolCalls.length === 1 ? "call" : "calls"}` : "",
    `${tokens(usage.inputTokens)} tokens in${cache}`,
    `${tokens(usage.outputTokens)} out${reasoning}`,
    cost(costNanoUsd),
    finishReason ? `finish: ${finishReason}` : "",
    duration(tookMs),
  ].filter(Boolean);
  return element(
    "footer",
    { class: "summary", title: rawFinishReason ? `The vendor's word: ${rawFinishReason}` : undefined },
    element("span", { class: `badge ${outcome}` }, outcome),
    ...facts.map((fact) => element("span", {}, fact)),
  );
}
