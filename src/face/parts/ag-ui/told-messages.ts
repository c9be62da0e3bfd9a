/** The messages that a page has by the events that it was told, as `@ag-ui/client` 1.0.0 puts them together. */
import { resultId } from "./messages.js";
import type { AgUiMessage } from "./types.js";

interface Told {
  readonly id: string;
  readonly role: AgUiMessage["role"];
  content?: unknown;
  toolCalls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  toolCallId?: string;
  subagentRunId?: string;
}

/** The owner of what is told: a subagent, or nobody. */
type Owner = { subagentRunId?: string };

export class ToldMessages {
  #all: Told[];

  constructor(messages: readonly AgUiMessage[]) {
    // Activities are the page's own.
    this.#all = messages.filter(({ role }) => role !== "activity") as Told[];
  }

  /** A copy: the messages change while a page reads it. */
  all(): AgUiMessage[] {
    return structuredClone(this.#all);
  }

  replace(messages: readonly AgUiMessage[]): void {
    this.#all = [...messages] as Told[];
  }

  /** Whether the page has a result of its own for this call. */
  hasResult(toolCallId: string): boolean {
    return this.#all.some((message) => message.toolCallId === toolCallId);
  }

  hasCall(id: string, toolCallId: string): boolean {
    const message = this.#all.find((one) => one.id === id);
    return message?.toolCalls?.some((call) => call.id === toolCallId) ?? false;
  }

  /** Whether a call with this id has no result: the one that a run tells again which goes on here. */
  hasOpenCall(toolCallId: string): boolean {
    const isCalled = this.#all.some(({ toolCalls = [] }) => toolCalls.some(({ id }) => id === toolCallId));
    return isCalled && !this.hasResult(toolCallId);
  }

  remove(id: string): boolean {
    const at = this.#all.findIndex((message) => message.id === id);
    if (at >= 0) this.#all.splice(at, 1);
    return at >= 0;
  }

  text(id: string, role: "assistant" | "reasoning", text: string, owner: Owner): void {
    const message = this.#of(id, role, owner);
    message.content = `${(message.content as string | undefined) ?? ""}${text}`;
  }

  call(id: string, toolCallId: string, name: string, owner: Owner): void {
    const message = this.#of(id, "assistant", owner);
    (message.toolCalls ??= []).push({ id: toolCallId, type: "function", function: { name, arguments: "" } });
  }

  arguments(toolCallId: string, text: string): void {
    const calls = this.#all.flatMap(({ toolCalls = [] }) => toolCalls);
    const call = calls.reverse().find(({ id }) => id === toolCallId);
    if (call !== undefined) call.function.arguments += text;
  }

  result(toolCallId: string, content: unknown, owner: Owner): void {
    const all = this.#all;
    const caller = all.findIndex(({ toolCalls = [] }) => toolCalls.some(({ id }) => id === toolCallId));
    let at = caller < 0 ? all.length : caller + 1;
    while (at < all.length && all[at]!.role === "tool") at += 1;
    all.splice(at, 0, { id: resultId(toolCallId), role: "tool", toolCallId, content, ...owner });
  }

  #of(id: string, role: "assistant" | "reasoning", owner: Owner): Told {
    const known = this.#all.find((message) => message.id === id);
    if (known !== undefined) return known;
    const added: Told = { id, role, ...(role === "reasoning" ? { content: "" } : {}), ...owner };
    this.#all.push(added);
    return added;
  }
}
