/** A log in a store to which several processes add, such as a list: an entry goes behind the last one of any of them. */
import { isStoreConflict } from "../../../core/api/errors.js";
import type { JournalEntry, Store } from "../../../core/api/run.js";
import { isObject } from "../../../core/options/check.js";

/** The tries of a write before which others come at the same moment. */
const TRIES = 20;

/** An entry of a log as its author wrote it. A reader checks the fields that it needs. */
export interface LogObject {
  readonly [name: string]: unknown;
}

export class SharedLog {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** The entries that are whole, in their order. */
  async load(): Promise<LogObject[]> {
    return objectsOf(await this.#entries());
  }

  /** Adds an entry, and returns those before it. A function makes the entry of those, or leaves it out. */
  add(entry: object | ((before: LogObject[]) => object | undefined)): Promise<LogObject[]> {
    return behindOthers(async () => {
      const entries = await this.#entries();
      const before = objectsOf(entries);
      const added = typeof entry === "function" ? (entry(before) as object | undefined) : entry;
      const last = entries.at(-1)?.seq ?? 0;
      if (added !== undefined)
        await this.#store.append(this.#key, [{ seq: last + 1, json: JSON.stringify(added) }], last);
      return before;
    });
  }

  async #entries(): Promise<readonly JournalEntry[]> {
    return (await this.#store.load(this.#key)) ?? [];
  }
}

/** Does a write that goes behind the last entry, and does it again if another process has come first. */
export async function behindOthers<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isStoreConflict(error) || attempt === TRIES) throw error;
    }
  }
}

function objectsOf(entries: readonly JournalEntry[]): LogObject[] {
  return entries.map(({ json }) => parsed(json)).filter((object) => object !== undefined);
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
