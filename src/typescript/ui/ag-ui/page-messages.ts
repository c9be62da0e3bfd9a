/** The messages that a page has after the events that it received, as `@ag-ui/client` 1.0.0 assembles them. */
import type { PastCall } from "../../extras/transcript/seen.js";
import { agentOf, resultId, type Owner } from "./messages.js";
import type { AgUiMessage } from "./types.js";

interface PageMessage {
  readonly id: string;
  readonly role: AgUiMessage["role"];
  content?: unknown;
  toolCalls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  toolCallId?: string;
  subagentRunId?: string;
}

export class PageMessages {
  #all: PageMessage[];
  /** The first message and the last call of each id. Each delta of an answer looks one of them up. */
  readonly #ids = new Map<string, PageMessage>();
  readonly #calls = new Map<string, NonNullable<PageMessage["toolCalls"]>[number]>();

  constructor(messages: readonly AgUiMessage[]) {
    // Activities are the page's own.
    this.#all = messages.filter(({ role }) => role !== "activity") as PageMessage[];
    this.#index();
  }

  #index(): void {
    this.#ids.clear();
    this.#calls.clear();
    for (const message of this.#all) {
      if (!this.#ids.has(message.id)) this.#ids.set(message.id, message);
      for (const call of message.toolCalls ?? []) this.#calls.set(call.id, call);
    }
  }

  /** A copy: the messages change while a page reads it. */
  all(): AgUiMessage[] {
    return structuredClone(this.#all);
  }

  replace(messages: readonly AgUiMessage[]): void {
    this.#all = [...messages] as PageMessage[];
    this.#index();
  }

  /** Whether the page has its own result for this call. */
  hasResult(toolCallId: string): boolean {
    return this.#all.some((message) => message.toolCallId === toolCallId);
  }

  /** Whether the page already has exactly this result. A page that joins a run can receive it a second time. */
  hasSameResult(toolCallId: string, content: unknown, { subagentRunId }: Owner): boolean {
    const json = JSON.stringify(content);
    return this.#all.some(
      (one) =>
        one.toolCallId === toolCallId &&
        one.subagentRunId === subagentRunId &&
        JSON.stringify(one.content) === json,
    );
  }

  /** Whether the page has this call without a result. */
  hasOpenCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId) && !this.hasResult(toolCallId);
  }

  remove(id: string): boolean {
    const message = this.#ids.get(id);
    if (message === undefined) return false;
    this.#all.splice(this.#all.indexOf(message), 1);
    this.#index();
    return true;
  }

  /**
   * Removes the last result of a call if each call with this id has a result: a process that crashed emitted it, and
   * did not save it. Returns whether there was one.
   */
  removeVoidResult(toolCallId: string, { subagentRunId }: Owner): boolean {
    const own = this.#all.filter((one) => one.subagentRunId === subagentRunId);
    const results = own.filter((one) => one.toolCallId === toolCallId);
    const calls = own.flatMap(({ toolCalls = [] }) => toolCalls).filter(({ id }) => id === toolCallId);
    // A vendor may use an id again.
    if (results.length === 0 || results.length < calls.length) return false;
    this.#all.splice(this.#all.indexOf(results.at(-1)!), 1);
    this.#index();
    return true;
  }

  text(id: string, role: "assistant" | "reasoning", text: string, owner: Owner): void {
    const message = this.#of(id, role, owner);
    message.content = `${(message.content as string | undefined) ?? ""}${text}`;
  }

  call(id: string, toolCallId: string, name: string, owner: Owner): void {
    const message = this.#of(id, "assistant", owner);
    const call = { id: toolCallId, type: "function" as const, function: { name, arguments: "" } };
    (message.toolCalls ??= []).push(call);
    this.#calls.set(toolCallId, call);
  }

  arguments(toolCallId: string, text: string): void {
    const call = this.#calls.get(toolCallId);
    if (call !== undefined) call.function.arguments += text;
  }

  argumentsOf(toolCallId: string): string | undefined {
    return this.#calls.get(toolCallId)?.function.arguments;
  }

  replaceArguments(toolCallId: string, text: string): void {
    const call = this.#calls.get(toolCallId);
    if (call !== undefined) call.function.arguments = text;
  }

  result(toolCallId: string, content: unknown, owner: Owner): void {
    const all = this.#all;
    const caller = all.findIndex(({ toolCalls = [] }) => toolCalls.some(({ id }) => id === toolCallId));
    let at = caller < 0 ? all.length : caller + 1;
    while (at < all.length && all[at]!.role === "tool") at += 1;
    const message: PageMessage = { id: resultId(toolCallId), role: "tool", toolCallId, content, ...owner };
    all.splice(at, 0, message);
    if (!this.#ids.has(message.id)) this.#ids.set(message.id, message);
  }

  /**
   * Adds the results that open calls were missing: those of a round that has not ended. Returns whether there were
   * any.
   */
  addResults(messages: readonly AgUiMessage[]): boolean {
    const open = messages.filter(
      ({ toolCallId }) => toolCallId !== undefined && this.hasOpenCall(toolCallId),
    );
    for (const { toolCallId, content, subagentRunId } of open)
      this.result(toolCallId!, content, subagentRunId === undefined ? {} : { subagentRunId });
    return open.length > 0;
  }

  #of(id: string, role: "assistant" | "reasoning", owner: Owner): PageMessage {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const added: PageMessage = { id, role, ...(role === "reasoning" ? { content: "" } : {}), ...owner };
    this.#all.push(added);
    this.#ids.set(id, added);
    return added;
  }
}

/** The calls that a page has of this run. */
export function* callsOfPage(messages: readonly AgUiMessage[], run: string): Generator<PastCall> {
  const done = new Set(messages.flatMap(({ toolCallId }) => toolCallId ?? []));
  const last = new Map<string | undefined, AgUiMessage>();
  for (const message of messages) if (message.role === "assistant") last.set(message.subagentRunId, message);
  for (const message of messages) {
    const { subagentRunId, toolCalls } = message;
    const agent = agentOf(subagentRunId, run);
    const isLast = last.get(subagentRunId) === message;
    for (const { id: toolCallId } of (agent && toolCalls) ?? [])
      yield { ...agent!, toolCallId, isDone: done.has(toolCallId), isLast };
  }
}
