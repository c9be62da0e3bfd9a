/**
 * Digests of the transcripts that pages have replaced in a chat. A page may restore one of them, such as the version
 * before a message was edited, but no transcript that the server has not had.
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

  /** Notes that a page replaces this transcript by another. @throws BadRequest for one that the page must not set */
  async leave(now: readonly Message[], to: readonly Message[]): Promise<void> {
    if (!isBeginning(to, now) && !(await this.#has(to)))
      throw new BadRequest(
        "reset needs the beginning of the chat, or one of its earlier transcripts: the server stores the history of the session.",
      );
    if (now.length > 0) await this.#log.add({ sha256: await sha256(now) });
  }

  async #has(messages: readonly Message[]): Promise<boolean> {
    const digest = await sha256(messages);
    return (await this.#log.load()).some((entry) => entry["sha256"] === digest);
  }
}

/**
 * Whether a page only removes messages, and adds no text of the model or of a tool. If a message has results and then
 * user text, the results may remain without the text.
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
