/** What a turn tells its listener. */
import type { Message } from "../types.js";

export interface TurnEvents {
  token: { token: string };
  thinking: { token: string };
  tool_call_start: { name: string; arguments: string };
  tool_result: { name: string; result: string };
  status: { message: string };
  /** After each change of the conversation. */
  messages_updated: { messages: Message[] };
  /** The last event of a turn that succeeds. */
  done: { response: unknown; messages: Message[] };
  error: { message: string };
  cancelled: { reason?: unknown };
  compaction_start: Record<string, never>;
  compaction_complete: { removed: number; remaining: number };
  compaction_failed: { message: string };
}

/** Contract: called at once with each event. An error that it throws is logged, and the turn goes on. */
export type OnTurnEvent = <K extends keyof TurnEvents>(type: K, data: TurnEvents[K]) => void;

/** The listener, or none; it never throws. */
export function safeListener(onEvent: OnTurnEvent | undefined): OnTurnEvent {
  return (type, data) => {
    try {
      onEvent?.(type, data);
    } catch (error) {
      console.error(error);
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
