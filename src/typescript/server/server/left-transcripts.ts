/**
 * The transcripts of a chat that pages have left for another one, as digests. A page may bring one of them back, such
 * as the version of a message before it was edited, and none that the server has not had.
 */
import type { Message, Store } from "../../core/api/index.js";
import { SharedLog } from "../../extras/stores/logs/shared-log.js";
import { sha256Of } from "../../extras/sha256.js";
import { BadRequest } from "../workers/hosting/problems.js";

/** The key of the digests. */
export const leftOf = (id: string): string => `looplet.left ${id}`;

export class LeftTranscripts {
  readonly #log: SharedLog;

  constructor(store: Store, id: string) {
    this.#log = new SharedLog(store, leftOf(id));
  }

  /** Notes that a page leaves this transcript for another one. @throws BadRequest for one that it may not bring */
  async leave(now: readonly Message[], to: readonly Message[]): Promise<void> {
    if (!isBeginning(to, now) && !(await this.#has(to)))
      throw new BadRequest(
        "reset needs the beginning of the chat, or a transcript that it has had: the server keeps the history of the session.",
      );
    if (now.length > 0) await this.#log.add({ sha256: await sha256(now) });
  }

  async #has(messages: readonly Message[]): Promise<boolean> {
    const digest = await sha256(messages);
    return (await this.#log.load()).some((entry) => entry["sha256"] === digest);
  }
}

/**
 * Whether a page only takes messages back, and says nothing in the name of the model or of a tool. Of a message with
 * results and the words of the person behind them, the results may stay alone.
 */
function isBeginning(messages: readonly Message[], all: readonly Message[]): boolean {
  const beginning = all.slice(0, messages.length);
  const last = beginning.at(-1);
  const results = last?.content.filter(({ type }) => type === "tool_result") ?? [];
  if (Object(messages.at(-1)?.content).length === results.length && results.length > 0)
    beginning.splice(-1, 1, { ...last!, content: results });
  return JSON.stringify(messages) === JSON.stringify(beginning);
}

async function sha256(messages: readonly Message[]): Promise<string> {
  const digest = await sha256Of(new TextEncoder().encode(JSON.stringify(messages)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
