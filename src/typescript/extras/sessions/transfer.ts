/** A chat on its way from one store to another, as text: the entries of its journal, one a line. */
import { LoopletError } from "../../core/api/errors.js";
import type { JournalEntry, SavedChat, Store } from "../../core/api/index.js";
import { entriesOf, journalOf } from "../../core/kit/journal.js";

/** The chat with this id as text, or undefined. */
export async function exported(store: Store, id: string): Promise<string | undefined> {
  const entries = (await store.load(id)) ?? [];
  return entries.length === 0 ? undefined : `${journalOf(entries).texts.join("\n")}\n`;
}

/**
 * Adds to a store what it does not have of a chat. `read` reads the chat of these entries before the store gets any.
 *
 * The author of a journal decides which calls were allowed: a resumed run makes the calls that the text names. So
 * only a trusted text may have an unfinished run. Of an ended run, the messages, the memory of subagents, the usage
 * and the last agent are imported.
 *
 * @throws LoopletError `misuse_invalid_argument` for a text that is not a chat, or for a chat that continues
 * differently in the store. For an untrusted text, also if a run of it is unfinished or in progress in the store
 */
export async function imported(
  store: Store,
  id: string,
  text: string,
  read: (entries: readonly JournalEntry[]) => Promise<SavedChat | undefined>,
  { trusted = false }: { trusted?: boolean | undefined } = {},
): Promise<void> {
  const lines = text.trimEnd().split("\n");
  if (lines.some((line) => seqOf(line) === undefined))
    throw wrong("needs the text that export has given, with an entry in each line");
  const kept = (await store.load(id)) ?? [];
  // An older text has no new entries.
  const shared = Math.min(kept.length, lines.length);
  if (kept.slice(0, shared).some(({ json }, at) => json !== lines[at]))
    throw wrong(`the store has a chat "${id}" that has continued differently; choose another id`);
  if (lines.length <= kept.length) return;
  const added = entriesOf(kept.length + 1, lines.slice(kept.length));
  const chat = await read([...kept, ...added]);
  if (chat === undefined) throw wrong("must be read by an agent in this process");
  if (!trusted && chat.isRunning)
    throw wrong(
      "has an unfinished run, and its calls would be made as the text says: let it end first, or pass { trusted: true } if you " +
        "trust whoever had the chat",
    );
  const counts = chat.isWhole && lines.every((line, at) => seqOf(line) === at + 1);
  if (!trusted && !counts) throw wrong("has entries that do not count");
  if (trusted) return store.append(id, added, kept.length);
  await appendEnded(store, id, added, kept.length);
}

/**
 * Appends entries of a chat with only ended runs. Holds a lease meanwhile and releases it as ended: a run in progress
 * keeps its journal, and a run that was cut off here is not resumed from these entries.
 */
async function appendEnded(
  store: Store,
  id: string,
  entries: readonly JournalEntry[],
  expectedSeq: number,
): Promise<void> {
  const options = { holder: `import ${Math.random()}`, ttlMs: IMPORT_MS };
  const lease = await store.lease?.(id, options);
  if (store.lease !== undefined && lease === undefined)
    throw wrong(`comes while a run of the chat "${id}" is under way in the store`);
  let isTaken = false;
  try {
    await store.append(id, entries, expectedSeq, lease?.fence);
    isTaken = true;
  } finally {
    await lease?.release(!isTaken);
  }
}

/** The time that the append may take, in milliseconds. */
const IMPORT_MS = 60_000;

/** The number in an entry; undefined for a text that is not an entry. */
function seqOf(line: string): number | undefined {
  try {
    const { seq } = JSON.parse(line) as { seq?: unknown };
    return typeof seq === "number" ? seq : undefined;
  } catch {
    return undefined;
  }
}

function wrong(problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", "text", problem);
}
