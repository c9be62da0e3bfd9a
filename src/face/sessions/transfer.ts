/** A chat on its way from one store to another, as text: the entries of its journal, one a line. */
import { LoopletError } from "../api/errors.js";
import type { Store } from "../api/index.js";
import { entriesOf, linesOf } from "../host/entries.js";

/** The chat of this id as text; undefined if the store has none. */
export async function exported(store: Store, id: string): Promise<string | undefined> {
  const entries = (await store.load(id)) ?? [];
  return entries.length === 0 ? undefined : `${linesOf(entries)}\n`;
}

/**
 * Gives a store what it does not have of a chat. `check` rejects for a chat that cannot be read, which is taken out of the store
 * again if all of it was new.
 *
 * @throws LoopletError `misuse_invalid_argument` for a text that is no chat, and for a chat that goes on differently in the store
 */
export async function imported(
  store: Store,
  id: string,
  text: string,
  check: () => Promise<unknown>,
): Promise<void> {
  const lines = text.trimEnd().split("\n");
  if (!lines.every(isJson)) throw wrong("needs the text that export has given, with an entry in each line");
  const kept = (await store.load(id)) ?? [];
  // An older text says nothing new.
  const shared = Math.min(kept.length, lines.length);
  if (kept.slice(0, shared).some(({ json }, at) => json !== lines[at]))
    throw wrong(`the store has a chat "${id}" that has gone on differently; give it another id`);
  if (lines.length <= kept.length) return;
  await store.append(id, entriesOf(kept.length + 1, lines.slice(kept.length).join("\n")), kept.length);
  try {
    await check();
  } catch (error) {
    if (kept.length === 0) await store.delete?.(id);
    throw error;
  }
}

function isJson(line: string): boolean {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null;
  } catch {
    return false;
  }
}

function wrong(problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", "text", problem);
}
