/**
 * `looplet/transcript`: finds what a provider refuses in a history, and repairs it. It needs no engine and no
 * network.
 *
 * One walk over the history checks all formats. A view per format defines how its messages are read and written.
 */
import { LoopletError } from "../../core/api/errors.js";
import { areBodies, brokenPrefixes } from "./prefixes.js";
import { views } from "./views.js";
import { walk } from "./walk.js";

/**
 * The format of a history:
 * - `looplet`: `result.messages`, and the option `messages` of `agent.run`.
 * - `anthropic`: `messages` of the Anthropic Messages API.
 * - `openai-chat`: `messages` of the OpenAI Chat Completions API.
 * - `openai-responses`: `input` of the OpenAI Responses API as an array of items, with all items that belong to it.
 *   It has no `previous_response_id`.
 * - `ai-sdk`: `ModelMessage[]` of the AI SDK, versions 5 and later.
 * - `ai-sdk-ui`: `UIMessage[]` of the AI SDK, versions 5 and later, as in `useChat`.
 */
export type TranscriptProtocol =
  "looplet" | "anthropic" | "openai-chat" | "openai-responses" | "ai-sdk" | "ai-sdk-ui";

/** One of the reasons why a history is refused. */
export type TranscriptCode =
  | "invalid_message"
  | "empty_message"
  | "empty_text"
  | "misplaced_block"
  | "unknown_block"
  | "invalid_call"
  | "duplicate_call"
  | "missing_result"
  | "orphan_result"
  | "duplicate_result"
  | "results_not_first"
  | "unfollowed_reasoning"
  /** Of request bodies: one does not begin with the one before it. It is accepted, but misses the cache. */
  | "broken_prefix"
  /** Of request bodies: signed reasoning that was made after another beginning. */
  | "stale_reasoning";

/**
 * A position in the history that the provider refuses, or in a request that does not begin like the one before it.
 */
export interface TranscriptProblem {
  /** The place in what was given: `messages[3].content[0]` of a history, `requests[2].system` of request bodies. */
  path: string;
  code: TranscriptCode;
  /** The rule that the place breaks. */
  message: string;
}

/** A change that `repairTranscript` made. `path` is the place in the history that was given. */
export interface TranscriptChange extends TranscriptProblem {
  /** One sentence about the change, such as "The result is removed." */
  change: string;
}

/**
 * Returns the problems of a history in order, and an empty array for a valid one.
 *
 * If you pass the recorded request bodies of one conversation instead of messages, in the order in which they were
 * sent, it returns where a request does not begin with the one before it (`broken_prefix`), and the signed reasoning
 * after such a position (`stale_reasoning`). The order of fields and cache markers make no difference. Protocols:
 * `anthropic`, `openai-chat`, `openai-responses`.
 *
 * @example
 * ```ts
 * import { checkTranscript } from "looplet/transcript";
 *
 * const history = [
 *   { role: "user", content: "Pay." },
 *   { role: "assistant", content: [{ type: "tool_use", id: "a", name: "pay", input: {} }] },
 * ];
 * console.log(checkTranscript(history, "anthropic").length); // prints "1"
 * ```
 *
 * @throws LoopletError `config_wrong_type` when `messages` is not an array, `config_invalid_value` for an unknown
 * protocol.
 */
export function checkTranscript(
  messages: readonly unknown[],
  protocol: TranscriptProtocol,
): TranscriptProblem[] {
  if (Array.isArray(messages) && areBodies(messages, protocol)) return brokenPrefixes(messages, protocol);
  return examine(messages, protocol).changes.map(({ path, code, message }) => ({ path, code, message }));
}

/**
 * Repairs a history with the smallest change that makes it valid. A valid history is returned as the same array, and
 * each message without a problem as the same object. The history itself is not changed.
 *
 * @example
 * ```ts
 * import { checkTranscript, repairTranscript } from "looplet/transcript";
 *
 * const history = [
 *   { role: "user", content: "Pay." },
 *   { role: "assistant", content: [{ type: "tool_use", id: "a", name: "pay", input: {} }] },
 * ];
 * const { messages } = repairTranscript(history, "anthropic");
 * console.log(checkTranscript(messages, "anthropic").length); // prints "0"
 * ```
 *
 * @throws LoopletError as `checkTranscript`.
 */
export function repairTranscript<M>(
  messages: readonly M[],
  protocol: TranscriptProtocol,
): { messages: readonly M[]; changes: TranscriptChange[] } {
  if (Array.isArray(messages) && areBodies(messages, protocol))
    throw new LoopletError(
      "config_wrong_type",
      "messages",
      "needs messages: request bodies can only be checked",
    );
  const repaired = examine(messages, protocol);
  return repaired.changes.length === 0
    ? { messages, changes: [] }
    : { messages: repaired.messages as M[], changes: repaired.changes };
}

function examine(messages: readonly unknown[], protocol: TranscriptProtocol) {
  if (!Array.isArray(messages)) {
    throw new LoopletError("config_wrong_type", "messages", "needs an array of messages");
  }
  if (!Object.hasOwn(views, protocol)) {
    const known = Object.keys(views).join(", ");
    throw new LoopletError("config_invalid_value", "protocol", `needs one of ${known}`);
  }
  return walk(messages, views[protocol]);
}
