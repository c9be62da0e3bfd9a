import type { JournalEntry, Store } from "../api/run.js";
import type { KvNamespaceLike } from "../vfs/objects.js";
import { entriesOf, linesOf } from "./lines.js";
import { checkSeq } from "./memory.js";

/** The parts of a Cloudflare KV namespace that {@link kvStore} uses. */
export interface KvTextNamespaceLike extends Pick<KvNamespaceLike, "list" | "delete"> {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options: { metadata: { readonly last: number } }): Promise<void>;
}

/** A store that cannot refuse one of two writers at the same moment: only one process may go on with a run. */
export interface EventualStore extends Pick<Required<Store>, "append" | "load" | "delete"> {
  readonly consistency: "eventual";
}

/** Digits of a number in a key, so that keys have the order of the numbers. */
const DIGITS = 12;

/**
 * A store in Cloudflare KV, below `root` (default `"looplet/"`). A value has at most 25 MiB.
 *
 * KV is eventually consistent: for a minute or so another place may read an old journal, and of two writers at the same
 * moment the later one wins. So it has no leases, and only one process, in one region, may go on with a run. A Durable Object
 * or D1 promise more.
 */
export function kvStore(namespace: KvTextNamespaceLike, root = "looplet/"): EventualStore {
  const prefixOf = (key: string): string => `${root}${encodeURIComponent(key)}/`;
  const listed = async (key: string): Promise<{ name: string; first: number; last: number }[]> => {
    const prefix = prefixOf(key);
    const found: { name: string; first: number; last: number }[] = [];
    let cursor: string | undefined;
    do {
      const page = await namespace.list(cursor === undefined ? { prefix } : { prefix, cursor });
      for (const { name, metadata } of page.keys) {
        const first = Number(name.slice(prefix.length));
        const { last } = (metadata ?? {}) as { last?: unknown };
        found.push({ name, first, last: Number.isSafeInteger(last) ? (last as number) : first });
      }
      cursor = page.list_complete ? undefined : page.cursor;
    } while (cursor !== undefined);
    return found;
  };
  return {
    consistency: "eventual",
    async append(key, entries, expectedSeq) {
      checkSeq(key, (await listed(key)).at(-1)?.last, expectedSeq);
      if (entries.length === 0) return;
      const [first, last] = [entries[0]!.seq, entries.at(-1)!.seq];
      const name = `${prefixOf(key)}${String(first).padStart(DIGITS, "0")}`;
      await namespace.put(name, linesOf(entries), { metadata: { last } });
    },
    async load(key) {
      const found = await listed(key);
      const texts = await Promise.all(found.map(({ name }) => namespace.get(name)));
      const entries: JournalEntry[] = [];
      for (const [at, { first, last }] of found.entries()) {
        // Entries that have not arrived here yet are missing, as their numbers tell.
        entries.push(...entriesOf(first, texts[at] ?? "", last));
      }
      return entries;
    },
    async delete(key) {
      for (const { name } of await listed(key)) await namespace.delete(name);
    },
  };
}
