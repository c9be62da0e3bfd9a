/** The events that a turn emits. */
import type { Clock } from "../../../core/api/index.js";
import type { ContentPart, PromptInputs, Message } from "../types.js";

export interface TurnEvents {
  token: { token: string };
  thinking: { token: string };
  tool_call_start: { name: string; arguments: string };
  /** `parts` are the whole result, if it is not only text. */
  tool_result: { name: string; result: string; parts?: readonly ContentPart[] };
  status: { message: string };
  /** After each change of the conversation. */
  messages_updated: { messages: Message[] };
  /** The messages of the first request are complete. */
  turn_start: { agent?: string; inputs: PromptInputs; maxIterations: number };
  /** Before `done`, or after the event of its error if the turn fails. `iterations` is the number of model calls. */
  turn_end: {
    iterations: number;
    status: "success" | "error" | "cancelled";
    response?: unknown;
    durationMs: number;
  };
  /** Before each attempt of a model call. */
  llm_start: { provider: string; modelId: string; messageCount: number; attempt: number };
  /** After an attempt with an answer. The fields are the provider's, if it sent them. */
  llm_complete: { requestId?: string; usage?: unknown; durationMs: number };
  /** Before the delay of the next attempt, which has the number `attempt`. */
  retry: { operation: "llm"; attempt: number; maxAttempts: number; delayMs: number; reason: string };
  /** Around the guardrail `tool`, which decides whether a call may run. */
  permission_requested: { requestId: string; permission: string; toolCallId: string };
  permission_completed: {
    requestId: string;
    permission: string;
    toolCallId: string;
    approved: boolean;
    reason?: string;
  };
  /** Around the function of a tool, with the arguments that it gets. */
  tool_execution_start: { toolCallId: string; toolName: string; arguments: PromptInputs };
  tool_execution_complete: { toolCallId: string; toolName: string; success: boolean; durationMs: number };
  /** The call has its result, by its function or for a reason that `errorKind` names. */
  tool_call_complete: {
    id: string;
    name: string;
    success: boolean;
    result: string;
    durationMs: number;
    errorKind?: ToolErrorKind;
  };
  /** Around the code of the caller that looks at a whole conversation or answer. */
  hook_start: { hookType: HookType };
  hook_end: { hookType: HookType; success: boolean; durationMs: number };
  /** The last event of a turn that succeeds. */
  done: { response: unknown; messages: Message[] };
  error: { message: string };
  cancelled: { reason?: unknown };
  compaction_start: Record<string, never>;
  compaction_complete: { removed: number; remaining: number };
  compaction_failed: { message: string };
}

export type ToolErrorKind = "invalid_arguments" | "denied" | "exception";
export type HookType = "input_guardrail" | "output_guardrail" | "compaction";

/**
 * Contract: called immediately with each event. An error that it throws or rejects with is logged, and the turn
 * continues.
 */
export type OnTurnEvent = <K extends keyof TurnEvents>(type: K, data: TurnEvents[K]) => void;

/** The listener, or a function that does nothing. It never throws. */
export function safeListener(onEvent: OnTurnEvent | undefined): OnTurnEvent {
  return (type, data) => {
    try {
      // An asynchronous listener is not waited for.
      const told: unknown = onEvent?.(type, data);
      if (told instanceof Promise) told.catch((error: unknown) => console.error(error));
    } catch (error) {
      console.error(error);
    }
  };
}

/** Begins to measure. @returns the milliseconds since then, by the host's clock */
export function stopwatch(clock: Clock | undefined): () => number {
  const now = (): number => clock?.now() ?? Date.now();
  const begun = now();
  return () => now() - begun;
}

/** Calls the caller's code between `hook_start` and `hook_end`. */
export type Around = <T>(hookType: HookType, work: () => T | Promise<T>) => Promise<T>;

export function hooks(tell: OnTurnEvent, clock: Clock | undefined): Around {
  return async (hookType, work) => {
    const elapsed = stopwatch(clock);
    let success = false;
    tell("hook_start", { hookType });
    try {
      const result = await work();
      success = true;
      return result;
    } finally {
      tell("hook_end", { hookType, success, durationMs: elapsed() });
    }
  };
}

/** Messages for a turn that is under way. They join the conversation before its next model call. */
export class Steering {
  #waiting: string[] = [];

  send(text: string): void {
    this.#waiting.push(text);
  }

  /** Takes what waits. */
  drain(): string[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }
}
