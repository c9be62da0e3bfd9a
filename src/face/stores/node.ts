/** `looplet/stores/node`: a store for journals in files, for Node, Bun and Deno. */
import { mkdir, open, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { JournalEntry, Store } from "../api/run.js";
import { checkSeq } from "./memory.js";

/**
 * A store of one file for each run in a folder, which is made if it is missing. Each line is one append, a JSON array. A
 * line that a crash has torn does not count, and the next append removes it. A process that has not seen another's append is
 * refused; two appends at the very same moment are not, because the file has no lock.
 */
export function fileStore(folder: string): Store {
  /** Of each file that was read or written: its size and the length of its whole lines, in bytes, and the last number. */
  const known = new Map<string, { size: number; bytes: number; last: number }>();
  const path = (key: string): string => join(folder, `${encodeURIComponent(key)}.jsonl`);

  const read = async (key: string): Promise<JournalEntry[]> => {
    const file = (await ifThere(readFile(path(key)))) ?? new Uint8Array();
    const text = new TextDecoder().decode(file);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    const entries: JournalEntry[] = [];
    let bytes = 0;
    for (const line of whole.split("\n").slice(0, -1)) {
      const read = readLine(line);
      if (read === undefined) break;
      entries.push(...read);
      bytes += new TextEncoder().encode(`${line}\n`).length;
    }
    known.set(key, { size: file.length, bytes, last: entries.at(-1)?.seq ?? 0 });
    return entries;
  };

  return {
    async append(key, entries, expectedSeq) {
      // Another process may have written since.
      const size = (await ifThere(stat(path(key))))?.size ?? 0;
      if (known.get(key)?.size !== size) await read(key);
      const { bytes, last } = known.get(key)!;
      checkSeq(key, last, expectedSeq);
      const line = new TextEncoder().encode(`[${entries.map(({ json }) => json).join(",")}]\n`);
      // What an earlier write has left half done is removed, so what happens from here on is unknown until it is done.
      known.delete(key);
      await mkdir(folder, { recursive: true });
      const file = await open(path(key), "a");
      try {
        await truncate(path(key), bytes);
        await file.appendFile(line);
        await file.sync();
      } finally {
        await file.close();
      }
      const length = bytes + line.length;
      known.set(key, { size: length, bytes: length, last: entries.at(-1)?.seq ?? last });
    },
    load: read,
  };
}

/** The outcome of a look at a file; undefined if the file is not there. */
async function ifThere<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return undefined;
  }
}

/** The entries of a line; undefined for one that is damaged. */
function readLine(line: string): JournalEntry[] | undefined {
  try {
    const entries = JSON.parse(line) as { seq: number }[];
    return entries.map((entry) => ({ seq: entry.seq, json: JSON.stringify(entry) }));
  } catch {
    return undefined;
  }
}
