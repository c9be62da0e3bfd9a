/** The changes of a list of chats, which its log has. */
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

/** Adds a change to the list. One that has an `id` alone notes that the chat was opened. */
export async function noteIn(log: SharedLog, change: Omit<Change, "atMs">, now = Date.now): Promise<void> {
  await log.add({ ...change, atMs: now() });
}
