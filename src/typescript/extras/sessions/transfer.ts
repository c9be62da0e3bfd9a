/** A chat on its way from one store to another, as text: the entries of its journal, one a line. */
import { LoopletError } from "../../core/api/errors.js";
import type { JournalEntry, SavedChat, Store } from "../../core/api/index.js";
import { entriesOf, journalOf } from "../../core/kit/journal.js";

/** The chat of this id as text; undefined if the store has none. */
export async function exported(store: Store, id: string): Promise<string | undefined> {
  const entries = (await store.load(id)) ?? [];
  return entries.length === 0 ? undefined : `${journalOf(entries).texts.join("\n")}\n`;
}

/**
 * Gives a store what it does not have of a chat. `read` reads the chat of these entries before the store gets any.
 *
 * The author of a journal decides which calls were allowed: a run that goes on makes the calls that the text names.
 * So only a trusted text may have such a run. Of an ended run, the messages, the memory of subagents, the usage and
 * the last agent count.
 *
 * @throws LoopletError `misuse_invalid_argument` for a text that is not a chat, for a chat that goes on differently
 * in the store, and, of a text that is not trusted, for a run that goes on in it or is under way in the store
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
  // An older text says nothing new.
  const shared = Math.min(kept.length, lines.length);
  if (kept.slice(0, shared).some(({ json }, at) => json !== lines[at]))
    throw wrong(`the store has a chat "${id}" that has gone on differently; give it another id`);
  if (lines.length <= kept.length) return;
  const added = entriesOf(kept.length + 1, lines.slice(kept.length));
  const chat = await read([...kept, ...added]);
  if (chat === undefined) throw wrong("is read by an agent of this process alone");
  if (!trusted && chat.isRunning)
    throw wrong(
      "has a run that goes on, whose calls would be made as the text says: let it end before, or pass { trusted: true } if you " +
        "trust whoever had the chat",
    );
  const counts = chat.isWhole && lines.every((line, at) => seqOf(line) === at + 1);
  if (!trusted && !counts) throw wrong("has entries that do not count");
  if (trusted) return store.append(id, added, kept.length);
  await appendEnded(store, id, added, kept.length);
}

/**
 * Appends entries of a chat whose runs have all ended. It holds a lease meanwhile and gives it back as ended: a run
 * that is under way here keeps its journal, and a run that was cut off here does not go on from these entries.
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
