/** The changes of a list of chats, which its log has. */
import type { Prompt } from "../../core/api/index.js";
import type { SharedLog } from "../stores/logs/shared-log.js";

/** A change of the list. */
export interface Change {
  readonly id: string;
  readonly atMs: number;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly from?: string;
  readonly isGone?: true;
}

/** Adds a change to the list. A change with only an `id` notes that the chat was opened. */
export async function noteIn(log: SharedLog, change: Omit<Change, "atMs">, now = Date.now): Promise<void> {
  await log.add({ ...change, atMs: now() });
}

/** Characters of a prompt in a title. */
const TITLE_CHARS = 60;

/** The title of a chat that starts with this prompt. Undefined for a prompt without text. */
export function titleOf(prompt: Prompt): string | undefined {
  const text = typeof prompt === "string" ? prompt : prompt.find((block) => block.type === "text")?.text;
  return text?.trim().slice(0, TITLE_CHARS) || undefined;
}
