/** What a query says, as it comes: texts, a card for each call, and a last line with what it came to. */
import type { PermissionResult, SDKMessage, SDKResultMessage } from "looplet/agent-sdk";
import { cost, counted } from "../amount.js";
import type { PermissionQuestion } from "../approval.js";
import { element } from "../element.js";
import { Markdown } from "../markdown.js";
import { notice } from "../notice.js";
import { ToolCard } from "../tool-card.js";

type Blocks = readonly { readonly type: string; readonly [field: string]: unknown }[];

export class Turn {
  readonly element = element("section", { class: "answer", "aria-label": "Agent" });
  readonly #cards = new Map<string, ToolCard>();
  /** The calls whose input is shown. */
  readonly #called = new Set<string>();
  /** The text that streams, until its whole message comes. */
  #streaming: Markdown | undefined;

  /** Draws a message; those that only observe are left out. */
  show(message: SDKMessage): void {
    if (message.type === "stream_event" && message.parent_tool_use_id === null) this.#stream(message.event);
    else if (message.type === "assistant") this.#answer(message.message.content, message.parent_tool_use_id);
    else if (message.type === "user") this.#results(message.message.content);
    else if (message.type === "result") this.#end(message);
  }

  /** Draws the messages of a session that is opened again. */
  restore(type: string, content: Blocks): void {
    if (type === "assistant") this.#answer(content, null);
    else this.#results(content);
  }

  /** Asks whether a call may run. */
  ask(question: PermissionQuestion): Promise<PermissionResult> {
    const { toolCallId, toolName, input } = question;
    const card = this.#call(toolCallId, toolName, input, this.element);
    return new Promise((resolve) => {
      const asking = card.ask(question, undefined, (result) => {
        card.answered();
        resolve(result);
      });
      asking.focus();
    });
  }

  close(): void {
    for (const card of this.#cards.values()) card.close();
  }

  #stream(event: { readonly type: string; readonly [field: string]: any }): void {
    const block = event["content_block"];
    // A call has its place when it begins.
    if (event.type === "content_block_start" && block.type === "tool_use" && !isListed(block.name))
      this.#card(block.id, block.name, this.element);
    const text = event["delta"]?.text;
    if (event.type !== "content_block_delta" || typeof text !== "string") return;
    if (this.#streaming === undefined) {
      this.#streaming = new Markdown();
      this.element.append(this.#streaming.element);
    }
    this.#streaming.append(text);
  }

  #answer(content: Blocks, parent: string | null): void {
    const place = parent === null ? this.element : (this.#cards.get(parent)?.nest() ?? this.element);
    const hasStreamed = parent === null && this.#streaming !== undefined;
    if (hasStreamed) this.#streaming = undefined;
    for (const block of content) {
      if (block.type === "text" && !hasStreamed) {
        const text = new Markdown();
        text.append(String(block["text"]));
        place.append(text.element);
      }
      const { id, name, input } = block as any;
      if (block.type === "tool_use" && !isListed(name)) this.#call(id, name, input, place);
    }
  }

  #results(content: Blocks): void {
    for (const block of content) {
      if (block.type !== "tool_result") continue;
      this.#cards
        .get(String(block["tool_use_id"]))
        ?.restore(textOf(block["content"]), block["is_error"] === true);
    }
  }

  #call(id: string, name: string, input: unknown, place: HTMLElement): ToolCard {
    const card = this.#card(id, name, place);
    // A call that is asked about comes again, with its whole message.
    if (!this.#called.has(id)) card.call(input);
    this.#called.add(id);
    return card;
  }

  #card(id: string, name: string, place: HTMLElement): ToolCard {
    const known = this.#cards.get(id);
    if (known !== undefined) return known;
    const card = new ToolCard(name);
    this.#cards.set(id, card);
    place.append(card.element);
    return card;
  }

  #end(result: SDKResultMessage): void {
    if (result.subtype !== "success")
      this.element.append(notice("error", result.subtype, element("p", {}, result.errors.join("\n"))));
    const facts = [result.subtype, counted(result.num_turns, "turn"), cost(result.total_cost_usd)];
    this.element.append(element("p", { class: "summary quiet" }, facts.join(" · ")));
  }
}

/** Whether the calls of a tool show elsewhere: the todos stand beside the conversation. */
const isListed = (name: string): boolean => name === "TodoWrite";

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? (content as Blocks) : [];
  return blocks
    .map((block) => (block.type === "text" ? String(block["text"]) : `(${block.type})`))
    .join("\n");
}
