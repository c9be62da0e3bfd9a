/**
 * The file of a journal as a log of lines. A line is one append or the start of a lease, with a checksum before it:
 *
 *     <checksum> + <first number> <last number> <fence or -> <entry>␞<entry>…
 *     <checksum> @ <fence> <the fence before> <nonce>
 *
 * Entries are their original texts, separated by record separators, which JSON text cannot contain (RFC 7464). All
 * processes read the lines in file order and accept the same ones. A damaged line is ignored. Entries after it are
 * not, and their numbers show that some are missing.
 */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { JournalEntry } from "../../../core/api/run.js";
import { isRunEnd } from "../../../core/kit/journal.js";
import { damaged } from "../lines.js";

/** Entries of one append, with or without a fence. */
export interface Append {
  readonly fence: number | undefined;
  readonly entries: readonly JournalEntry[];
}

/** The start of a lease. `after` is the fence of the previous lease, or 0. */
export interface Beginning {
  readonly fence: number;
  readonly after: number;
  readonly nonce: string;
}

type Line = Append | Beginning;

/** Journals are private: only the user of the process can read a new file. An older file keeps its permissions. */
export const PRIVATE_FILE = 0o600;

const LINE_END = 10;
const SEPARATOR = "\u001e";
const CHECKSUM_CHARS = 12;

/**
 * How often a line without an end is read before it counts as damaged, and the delay between reads in milliseconds.
 */
const LOOKS = 3;
const LOOK_MS = 10;

/** The state of a journal's file as far as it was read. */
export class Log {
  /** The number of the last entry. */
  last = 0;
  /** The fence of the latest lease. */
  fence: number | undefined;
  nonce: string | undefined;
  /** Whether the last entry ends a run. */
  isOver = false;
  /** Whether the file ends within a line: its writer is still writing it, or has crashed. */
  isCut = false;
  /** Whether a complete line that cannot be read follows all accepted entries. */
  #isDamaged = false;
  /** A line with a checksum was read, so that no line without one is of an older version. */
  #isSealed = false;
  /** The length of the whole lines, in bytes. */
  #bytes = 0;
  /** Distinguishes the file from a later one with the same name. */
  #file = NO_FILE;

  /** Whether a complete or partial line that cannot be read follows all accepted entries. */
  get isDamaged(): boolean {
    return this.#isDamaged || this.isCut;
  }

  /** Reads the new lines. */
  async read(path: string): Promise<void> {
    await this.#read(path, () => {});
  }

  /**
   * The new entries: all of a file that was not read before. If its end is damaged, a last entry marks it.
   * `isWritten` returns whether a process may still be writing a line without an end.
   */
  async entries(path: string, isWritten: () => Promise<boolean>): Promise<JournalEntry[]> {
    const entries: JournalEntry[] = [];
    const read = (): Promise<void> =>
      this.#read(path, (line) => {
        if ("entries" in line) for (const entry of line.entries) entries.push(entry);
      });
    await read();
    const isLeft = this.isCut && !(await isWritten());
    // A writer without a lease, or with a newer one, may be about to complete its line.
    for (let look = 0; isLeft && this.isCut && look < LOOKS; look++) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await read();
    }
    if (this.#isDamaged || (isLeft && this.isCut)) entries.push(damaged(this.last));
    return entries;
  }

  /** Adds a line, and returns whether it is accepted. */
  async write(path: string, line: Line): Promise<boolean> {
    const text = sealed(line);
    const file = await open(path, "a", PRIVATE_FILE);
    try {
      const stat = await file.stat();
      // The file was replaced after it was read.
      if (this.#file !== NO_FILE && nameOf(stat) !== this.#file) return false;
      // Ends a line that was cut off by a crash or a full disk.
      const isTorn = stat.size > this.#bytes;
      const bytes = new TextEncoder().encode(`${isTorn ? "\n" : ""}${text}\n`);
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length) throw new Error(`${path} could not be written whole.`);
      await file.sync();
    } finally {
      await file.close();
    }
    let isTaken = false;
    await this.#read(path, (_, other) => (isTaken ||= other === text));
    return isTaken;
  }

  async #read(path: string, take: (line: Line, text: string) => void): Promise<void> {
    const file = await ifThere(open(path, "r"));
    try {
      const stat = await file?.stat();
      const size = stat?.size ?? 0;
      const name = stat === undefined ? NO_FILE : nameOf(stat);
      // The file was truncated or deleted.
      if (size < this.#bytes || name !== this.#file) {
        [this.last, this.fence, this.nonce, this.#bytes] = [0, undefined, undefined, 0];
        [this.isOver, this.#isDamaged, this.#isSealed] = [false, false, false];
      }
      this.#file = name;
      const bytes = new Uint8Array(size - this.#bytes);
      let length = 0;
      while (file !== undefined && length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, this.#bytes + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      let from = 0;
      for (let end = bytes.indexOf(LINE_END); end >= 0 && end < length; end = bytes.indexOf(LINE_END, from)) {
        const text = decoder.decode(bytes.subarray(from, end));
        from = end + 1;
        if (text === "") continue;
        const sealed = lineOf(text);
        this.#isSealed ||= sealed !== undefined;
        const line = sealed ?? (this.#isSealed ? undefined : lineOfJson(text));
        if (line === undefined) this.#isDamaged = true;
        else if (this.#counts(line)) take(line, text);
      }
      this.#bytes += from;
      this.isCut = length > from;
    } finally {
      await file?.close();
    }
  }

  /**
   * Whether a line is valid after those before it. If so, applies it. A missing line does not make later ones stale.
   */
  #counts(line: Line): boolean {
    if ("after" in line) {
      if (line.after < (this.fence ?? 0)) return false;
      [this.fence, this.nonce] = [line.fence, line.nonce];
      return true;
    }
    const { fence, entries } = line;
    if (fence !== undefined && fence < (this.fence ?? 0)) return false;
    if (entries[0]!.seq <= this.last) return false;
    if (fence !== undefined && fence !== this.fence) [this.fence, this.nonce] = [fence, undefined];
    this.last = entries.at(-1)!.seq;
    this.isOver = isRunEnd(entries.at(-1)!);
    this.#isDamaged = false;
    return true;
  }
}

/** The result of accessing a file, or undefined if it does not exist. */
export async function ifThere<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return undefined;
  }
}

const NO_FILE = "";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function nameOf({ ino, birthtimeMs }: { ino: number; birthtimeMs: number }): string {
  return `${ino} ${birthtimeMs}`;
}

function sealed(line: Line): string {
  const text =
    "after" in line
      ? `@ ${line.fence} ${line.after} ${line.nonce}`
      : `+ ${line.entries[0]!.seq} ${line.entries.at(-1)!.seq} ${line.fence ?? "-"} ${line.entries.map(({ json }) => json).join(SEPARATOR)}`;
  return `${checksum(text)} ${text}`;
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, CHECKSUM_CHARS);
}

/** The line after its checksum. Undefined for a line that is damaged or has no checksum. */
function lineOf(text: string): Line | undefined {
  const rest = text.slice(CHECKSUM_CHARS + 1);
  if (text.slice(0, CHECKSUM_CHARS) !== checksum(rest)) return undefined;
  const lease = /^@ (\d+) (\d+) (\w+)$/.exec(rest);
  if (lease !== null) return { fence: Number(lease[1]), after: Number(lease[2]), nonce: lease[3]! };
  const append = /^\+ (\d+) (\d+) (\d+|-) /.exec(rest);
  if (append === null) return undefined;
  const [head, first, last, fence] = append;
  const texts = rest.slice(head.length).split(SEPARATOR);
  if (Number(last) - Number(first) + 1 !== texts.length) return undefined;
  return {
    fence: fence === "-" ? undefined : Number(fence),
    entries: texts.map((json, at) => ({ seq: Number(first) + at, json })),
  };
}

/**
 * A line of JSON without a checksum, as version 0.1 wrote it before its first release. Such lines precede all others
 * of their file: after a line with a checksum, a line without one is damage.
 */
function lineOfJson(text: string): Line | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { fence, after, nonce, entries } = (Array.isArray(line) ? { entries: line } : (line ?? {})) as {
    [field: string]: unknown;
  };
  const isFence = (value: unknown): value is number => Number.isSafeInteger(value);
  if (isFence(fence) && isFence(after) && typeof nonce === "string") return { fence, after, nonce };
  const isEntry = (entry: unknown): entry is { seq: number } =>
    isFence((entry as { seq?: unknown } | null)?.seq);
  if (!Array.isArray(entries) || entries.length === 0 || !entries.every(isEntry)) return undefined;
  if (fence !== undefined && !isFence(fence)) return undefined;
  return { fence, entries: entries.map((entry) => ({ seq: entry.seq, json: JSON.stringify(entry) })) };
}
