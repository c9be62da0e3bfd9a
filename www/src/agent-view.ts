/**
 * What one agent of a run puts into the transcript, in the order of its events: reasoning, text, tool cards, retries.
 * Blocks are found by iteration, attempt and number; a `reset` takes those of an attempt back.
 */
import type { Message, RunEvent, RunEventOf } from "looplet";
import { duration, tokens } from "./amount.js";
import { divider, unfold } from "./divider.js";
import { element } from "./element.js";
import { explain } from "./failure.js";
import { Markdown } from "./markdown.js";
import { notice } from "./notice.js";
import { Reasoning } from "./reasoning.js";
import { ToolCard } from "./tool-card.js";

type BlockView = Markdown | Reasoning | ToolCard;

export class AgentView {
  readonly #section: () => HTMLElement;
  readonly #blocks = new Map<string, BlockView>();
  readonly #cards = new Map<string, ToolCard>();
  #calls: HTMLElement | undefined;
  #model: string | undefined;
  #compacted: HTMLElement | undefined;

  /** Contract: `section` gives the element that new blocks are appended to. */
  constructor(section: () => HTMLElement) {
    this.#section = section;
  }

  handle(event: RunEvent): void {
    switch (event.type) {
      case "agent-start":
        this.#model = event.model;
        return;
      case "handoff":
        return this.say(
          divider("hand", event.to === "hand_back" ? "Handed back" : `Handed over to ${event.to}`),
        );
      case "model-change":
        return this.#changeModel(event);
      case "answer-cut-off":
        return this.#sayCutOff(event);
      case "compact-boundary":
        this.#compacted = divider(
          "fold",
          `History compacted: about ${tokens(event.preTokens)} → ${tokens(event.postTokens)} tokens`,
        );
        return this.say(this.#compacted);
      case "iteration-start":
        return this.leaveCalls();
      case "text-start":
        return this.#begin(event, new Markdown());
      case "reasoning-start":
        return this.#begin(event, new Reasoning());
      case "tool-input-start":
        this.#blocks.set(keyOf(event, event.block), this.cardOf(event));
        return;
      case "text-delta":
      case "reasoning-delta":
        return (this.#blockOf(event) as Markdown | Reasoning | undefined)?.append(event.text);
      case "tool-input-delta":
        return (this.#blockOf(event) as ToolCard | undefined)?.write(event.text);
      case "reasoning-end":
        return (this.#blockOf(event) as Reasoning | undefined)?.end();
      case "tool-call":
        return this.cardOf(event).call(event.input);
      case "tool-progress":
        return this.cardOf(event).report(event.data);
      case "tool-result":
        return this.cardOf(event).succeed(event);
      case "tool-error":
        return this.cardOf(event).fail(event);
      case "reset":
        return this.#takeBack(event);
      case "retry":
        return this.say(
          notice(
            "warning",
            `${explain(event.error).title}. Trying again in ${duration(event.delayMs)} (attempt ${event.nextAttempt} of ${event.maxAttempts}).`,
          ),
        );
      case "warning":
        // Which tools need no question is what the page has set: news for the event log only.
        if (event.code === "can_use_tool_shadowed") return;
        return this.say(notice("warning", event.message));
    }
  }

  /** Shows a message of a transcript, as far as it is not shown by its events. */
  restore({ content }: Message): void {
    this.leaveCalls();
    for (const block of content) {
      if (block.type === "text") this.#restoreText(new Markdown(), block.text);
      else if (block.type === "thinking") this.#restoreText(new Reasoning(), block.text).end();
      else if (block.type === "tool_call")
        this.cardOf({ toolCallId: block.id, toolName: block.name }).call(block.input ?? block.inputText);
      else if (block.type === "tool_result" && block.pending === undefined)
        this.#cards.get(block.callId)?.restore(textOf(block.content), block.isError ?? false);
    }
  }

  /** The card of a call; an answer that was not streamed has calls without their beginnings. */
  cardOf({ toolCallId, toolName }: { toolCallId: string; toolName: string }): ToolCard {
    return this.#cards.get(toolCallId) ?? this.#addCard(toolCallId, toolName);
  }

  /** The card of a call that was made. */
  find(toolCallId: string): ToolCard | undefined {
    return this.#cards.get(toolCallId);
  }

  say(line: HTMLElement): void {
    this.leaveCalls();
    this.#section().append(line);
  }

  /** Shows the summary below the last line that says that there is one. */
  unfold(summary: string): void {
    if (this.#compacted) unfold(this.#compacted, summary);
  }

  /** The next card begins a row of its own. */
  leaveCalls(): void {
    this.#calls = undefined;
  }

  /** The run is over. */
  close(): void {
    for (const card of this.#cards.values()) card.close();
    for (const block of this.#blocks.values()) if (block instanceof Reasoning) block.end();
  }

  #restoreText<View extends Markdown | Reasoning>(view: View, text: string): View {
    view.append(text);
    this.say(view.element);
    return view;
  }

  #sayCutOff({ text, reasoning }: RunEventOf<"answer-cut-off">): void {
    const words = [reasoning, text]
      .filter((part) => part !== "")
      .map((part) => element("p", { class: "quiet cut-off" }, part));
    this.say(notice("info", "This answer was cut off. The model writes it anew.", ...words));
  }

  // A handoff back tells the model that went on all the time.
  #changeModel({ model, error }: RunEventOf<"model-change">): void {
    if (model === this.#model && !error) return;
    this.#model = model;
    const why = error ? ` (${explain(error).title.toLowerCase()})` : "";
    this.say(divider("chip", `The model is now ${model}${why}`));
  }

  #begin(event: { iteration: number; attempt: number; block: number }, view: Markdown | Reasoning): void {
    this.#blocks.set(keyOf(event, event.block), view);
    this.say(view.element);
  }

  #addCard(toolCallId: string, toolName: string): ToolCard {
    const card = new ToolCard(toolName);
    this.#cards.set(toolCallId, card);
    if (!this.#calls) {
      this.#calls = element("div", { class: "calls" });
      this.#section().append(this.#calls);
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
    this.leaveCalls();
  }

  #blockOf(event: { iteration: number; attempt: number; block: number }): BlockView | undefined {
    return this.#blocks.get(keyOf(event, event.block));
  }
}

/** The texts of a tool's result. */
export function textOf(content: Message["content"]): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

const keyOf = ({ iteration, attempt }: { iteration: number; attempt: number }, block: number) =>
  `${iteration}.${attempt}.${block}`;
