/**
 * A log in a store that several processes append to, such as a list. An entry is appended after the last one of any
 * of them.
 */
import { isStoreConflict } from "../../../core/api/errors.js";
import type { JournalEntry, Store } from "../../../core/api/run.js";
import { isObject } from "../../../core/kit/check.js";

/** The tries of a write before which others come at the same moment. */
const TRIES = 60;

/** An entry of a log as its author wrote it. A reader checks the fields that it needs. */
export interface LogObject {
  readonly [name: string]: unknown;
}

export interface SharedLogOptions {
  /** Whether each entry is saved in two appends, so that damage to one of them loses nothing. Default false. */
  readonly twice?: boolean;
}

export class SharedLog {
  readonly #store: Store;
  readonly #key: string;
  readonly #twice: boolean;
  /** The number of the last entry, as far as this object knows. */
  #last: number | undefined;

  constructor(store: Store, key: string, { twice = false }: SharedLogOptions = {}) {
    this.#store = store;
    this.#key = key;
    this.#twice = twice;
  }

  /** The entries that are whole, in their order. */
  async load(): Promise<LogObject[]> {
    return objectsOf(await this.#entries());
  }

  /** Adds an entry, and reads the others only if another process has added one. Not for a log with `twice`. */
  async append(entry: object): Promise<void> {
    const last = this.#last;
    if (last === undefined) return void (await this.add(entry));
    try {
      const seq = last + 1;
      await this.#store.append(this.#key, [{ seq, json: JSON.stringify(entry) }], last);
      this.#last = seq;
    } catch (error) {
      if (!isStoreConflict(error)) throw error;
      await this.add(entry);
    }
  }

  /** Adds an entry, and returns those before it. A function can create the entry from those, or skip it. */
  async add(entry: object | ((before: LogObject[]) => object | undefined)): Promise<LogObject[]> {
    let saved: JournalEntry | undefined;
    const before = await behindOthers(async () => {
      const entries = await this.#entries();
      const before = objectsOf(entries);
      const added = typeof entry === "function" ? (entry(before) as object | undefined) : entry;
      if (added === undefined) return before;
      const last = entries.at(-1)?.seq ?? 0;
      const text = JSON.stringify(added);
      const json = this.#twice ? sealed(last + 1, text) : text;
      await this.#store.append(this.#key, [{ seq: last + 1, json }], last);
      saved = { seq: last + 1, json };
      this.#last = last + 1;
      return before;
    });
    if (this.#twice && saved !== undefined) await this.#addCopy(saved);
    return before;
  }

  /** Saves an entry a second time. The copy is used if the first one is damaged. */
  async #addCopy({ seq, json }: JournalEntry): Promise<void> {
    let last: number | undefined = seq;
    try {
      await behindOthers(async () => {
        last ??= (await this.#entries()).at(-1)?.seq ?? 0;
        const expected = last;
        last = undefined;
        await this.#store.append(this.#key, [{ seq: expected + 1, json }], expected);
      });
    } catch {
      // The store has the entry.
    }
  }

  async #entries(): Promise<readonly JournalEntry[]> {
    const entries = (await this.#store.load(this.#key)) ?? [];
    this.#last = entries.at(-1)?.seq ?? 0;
    return entries;
  }
}

/** Performs an append after the last entry, and retries if another process came first. */
export async function behindOthers<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isStoreConflict(error) || attempt === TRIES) throw error;
    }
  }
}

/** The entries that are whole. Of one that was saved twice the first whole one counts. */
function objectsOf(entries: readonly JournalEntry[]): LogObject[] {
  const seen = new Set<unknown>();
  return entries.flatMap(({ json }): LogObject[] => {
    const object = parsed(json);
    if (object === undefined) return [];
    if (!Object.hasOwn(object, "sum")) return [object];
    const { sum, at, of } = object;
    if (typeof of !== "string" || sum !== sumOf(`${String(at)} ${of}`) || seen.has(at)) return [];
    seen.add(at);
    const entry = parsed(of);
    return entry === undefined ? [] : [entry];
  });
}

/** An entry with a checksum and the number under which it is saved first. */
function sealed(at: number, of: string): string {
  return JSON.stringify({ sum: sumOf(`${at} ${of}`), at, of });
}

/** A checksum against accidents: FNV-1a. */
function sumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum >>> 0;
}

/** The object that an entry of a store has; undefined for one that is damaged. */
export function parsed(json: string): LogObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? (value as LogObject) : undefined;
  } catch {
    return undefined;
  }
}
