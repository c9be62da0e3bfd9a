import type { Store } from "../../core/api/run.js";
import { checkMethods } from "../check-methods.js";
import type { KvNamespaceLike } from "../vfs/objects.js";
import { entriesOf, linesOf } from "./lines.js";
import { checkSeq } from "./memory.js";
import { piecesIn, putPieces, textOf, wordsFor, type PieceTable } from "./long/pieces.js";

/** The parts of a Cloudflare KV namespace that {@link kvStore} uses. */
export interface KvTextNamespaceLike extends Pick<KvNamespaceLike, "list" | "delete"> {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options?: { metadata: { readonly last: number } }): Promise<void>;
}

/** A store that cannot refuse one of two concurrent writers: only one process may resume a run. */
export interface EventualStore extends Pick<Required<Store>, "append" | "load" | "delete"> {
  readonly consistency: "eventual";
}

/** Digits of a number in a key, so that keys have the order of the numbers. */
const DIGITS = 12;

/** Characters of a value: it may have 25 MiB, of up to three bytes a character. */
const MAX_CHARS = 8_000_000;

/**
 * A store in Cloudflare KV, below `root` (default `"looplet/"`). An append that exceeds the size limit of a value is
 * split.
 *
 * KV is eventually consistent: for a minute or so another location may read an old journal, and the later of two
 * concurrent writes wins. So it has no leases, and only one process, in one region, may resume a run. A Durable
 * Object or D1 gives stronger guarantees.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { kvStore, type KvTextNamespaceLike } from "looplet/stores";
 *
 * declare const env: { RUNS: KvTextNamespaceLike; ANTHROPIC_API_KEY: string };
 * const model = anthropic("claude-opus-5-5", { apiKey: env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, store: kvStore(env.RUNS) });
 * ```
 */
export function kvStore(namespace: KvTextNamespaceLike, root = "looplet/"): EventualStore {
  const what = "a KV namespace; is the binding in the Wrangler configuration?";
  checkMethods(namespace, "namespace", what, ["get", "put", "list", "delete"]);
  const prefixOf = (key: string): string => `${root}${encodeURIComponent(key)}/`;
  // No key has a colon where keys are encoded.
  const piecesPrefix = (key: string): string => `${root}${encodeURIComponent(key)}:pieces/`;
  const tableOf = (key: string): PieceTable => {
    const nameOf = (name: string, at: number): string => `${piecesPrefix(key)}${name}/${at}`;
    return {
      put: (name, at, piece) => namespace.put(nameOf(name, at), piece),
      get: async (name, at) => (await namespace.get(nameOf(name, at))) ?? undefined,
      delete: (name, at) => namespace.delete(nameOf(name, at)),
    };
  };
  const textIn = async (key: string, name: string): Promise<string> => {
    // Entries that have not been replicated here are missing, and their numbers show it.
    const value = (await namespace.get(name)) ?? "";
    const pieces = piecesIn(value);
    return pieces === undefined ? value : textOf(tableOf(key), pieces);
  };
  const namesBelow = async (prefix: string): Promise<{ name: string; metadata?: unknown }[]> => {
    const names: { name: string; metadata?: unknown }[] = [];
    let cursor: string | undefined;
    do {
      const page = await namespace.list(cursor === undefined ? { prefix } : { prefix, cursor });
      names.push(...page.keys);
      cursor = page.list_complete ? undefined : page.cursor;
    } while (cursor !== undefined);
    return names;
  };
  const listed = async (key: string): Promise<{ name: string; first: number; last: number }[]> => {
    const prefix = prefixOf(key);
    return (await namesBelow(prefix)).map(({ name, metadata }) => {
      const first = Number(name.slice(prefix.length));
      const { last } = (metadata ?? {}) as { last?: unknown };
      return { name, first, last: Number.isSafeInteger(last) ? (last as number) : first };
    });
  };
  return {
    consistency: "eventual",
    async append(key, entries, expectedSeq) {
      checkSeq(key, (await listed(key)).at(-1)?.last, expectedSeq);
      if (entries.length === 0) return;
      const [first, last] = [entries[0]!.seq, entries.at(-1)!.seq];
      const name = `${prefixOf(key)}${String(first).padStart(DIGITS, "0")}`;
      const text = linesOf(entries);
      const pieces = await putPieces(tableOf(key), text, MAX_CHARS);
      await namespace.put(name, pieces === undefined ? text : wordsFor(pieces), { metadata: { last } });
    },
    async load(key, after = 0) {
      const found = (await listed(key)).filter(({ last }) => last > after);
      const texts = await Promise.all(found.map(({ name }) => textIn(key, name)));
      return found.flatMap(({ first, last }, at) => entriesOf(first, texts[at]!, last));
    },
    async delete(key) {
      for (const prefix of [prefixOf(key), piecesPrefix(key)])
        for (const { name } of await namesBelow(prefix)) await namespace.delete(name);
    },
  };
}
