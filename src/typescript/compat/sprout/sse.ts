/** Server-sent events of a loop: what the model thinks, which tools it calls, and what they return. */
import type { HostByteStream } from "../../core/api/platform.js";
import { KEEP_ALIVE, KeepAlive } from "../../extras/keep-alive.js";
import { agentLoop } from "./agent-loop.js";
import type { AgentLoopOptions, SproutCallbacks } from "./types.js";

/** Where the events go. */
export interface SseWriter {
  send(event: string, data: unknown): void;
}

/** Characters of a result that an event has. */
const SUMMARY = 200;

/**
 * Callbacks that send `agent_reasoning` `{ agent, text }`, `tool_call` `{ tool, input }`, `tool_result` `{ tool,
 * summary }` with the first 200 characters of the result, and the events that tools send.
 */
export function sseCallbacks(writer: SseWriter, { agent }: { agent: string }): Required<SproutCallbacks> {
  return {
    onThinking: (text: string) => writer.send("agent_reasoning", { agent, text }),
    onToolCall: (tool: string, input: unknown) => writer.send("tool_call", { tool, input }),
    onToolResult: (tool: string, result: string) =>
      writer.send("tool_result", { tool, summary: result.substring(0, SUMMARY) }),
    onToolEvent: (event: string, data: unknown) => writer.send(event, data),
  };
}

/**
 * Runs the loop, and returns its events as the body of a response of type `text/event-stream`. The last event is
 * `done` `{ finalText }` or `error` `{ message, status? }`. The loop starts immediately. Cancelling the stream aborts
 * it. Callbacks of the options are called too. After every 15 seconds of silence a comment is sent.
 */
export function toEventStream(options: AgentLoopOptions, { agent }: { agent: string }): HostByteStream {
  const abort = new AbortController();
  const encoder = new TextEncoder();
  const { signal, callbacks = {} } = options;
  let isGone = false;
  const stop = (): void => abort.abort(signal?.reason);
  const events: string[] = [];
  const silence = new KeepAlive<boolean>();
  let isOver = false;
  let wake = (): void => {};
  /** Resolves when there is an event, or the end. */
  const isThere = async (): Promise<boolean> => {
    if (events.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
    return true;
  };
  return new ReadableStream({
    start() {
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop, { once: true });
      const send = (event: string, data: unknown): void => {
        // A tool may still send after the loop stopped waiting for it.
        if (isGone || isOver) return;
        events.push(`event: ${event}\ndata: ${JSON.stringify(data) ?? "null"}\n\n`);
        wake();
      };
      const sent = sseCallbacks({ send }, { agent });
      const both: SproutCallbacks = {
        onThinking: (text) => (sent.onThinking(text), callbacks.onThinking?.(text)),
        onToolCall: (tool, input) => (sent.onToolCall(tool, input), callbacks.onToolCall?.(tool, input)),
        onToolResult: (tool, result) => (
          sent.onToolResult(tool, result),
          callbacks.onToolResult?.(tool, result)
        ),
        onToolEvent: (event, data) => (sent.onToolEvent(event, data), callbacks.onToolEvent?.(event, data)),
      };
      void (async () => {
        try {
          const { finalText } = await agentLoop({ ...options, callbacks: both, signal: abort.signal });
          send("done", { finalText });
        } catch (error) {
          const { message = String(error), status } = error as { message?: string; status?: number };
          send("error", { message, status });
        }
        signal?.removeEventListener("abort", stop);
        isOver = true;
        wake();
      })();
    },
    async pull(controller) {
      const came = await silence.next(isThere);
      if (isGone) return;
      if (came === undefined) return controller.enqueue(encoder.encode(KEEP_ALIVE));
      const [event] = events.splice(0, 1);
      if (event !== undefined) controller.enqueue(encoder.encode(event));
      if (events.length === 0 && isOver) controller.close();
    },
    cancel(reason) {
      isGone = true;
      silence.stop();
      abort.abort(reason);
    },
  });
}
