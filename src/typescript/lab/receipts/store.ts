/** A store that chains its entries. The underlying store gets the same entries as without it. */
import { LoopletError } from "../../core/api/errors.js";
import type { JournalEntry, Store } from "../../core/api/run.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { checkOptions } from "../../core/kit/check.js";
import { Chain, signedBytes, type Receipt } from "./chain.js";

/** The options of {@link receipts}. @beta */
export interface ReceiptOptions {
  /**
   * Contract: returns the signature of the bytes, by a key that whoever can write the store does not have. Called for
   * each receipt. Default: receipts have no signature.
   */
  sign?: ((bytes: Uint8Array<ArrayBuffer>) => Signature | PromiseLike<Signature>) | undefined;
  /**
   * Called with the receipt of each save, before the run continues. Store it where someone with write access to the
   * store cannot change it. An error is reported and does not stop the run: the next receipt covers these entries
   * too. Default: none.
   */
  onReceipt?: ((receipt: Receipt) => unknown) | undefined;
}

/** The bytes of a signature. @beta */
export type Signature = ArrayBuffer | Uint8Array;

/** A store with receipts. @beta */
export interface ReceiptStore extends Store {
  /** The receipt of a journal as it is stored now, or undefined. */
  receipt(journal: string): Promise<Receipt | undefined>;
}

/**
 * Wraps a store, with a chain for each journal. Pass it to `createAgent` instead of the store.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { receipts } from "looplet/receipts";
 * import { memoryStore } from "looplet/stores";
 *
 * const store = receipts(memoryStore());
 * await createAgent({ model: custom(() => Promise.resolve("Paid.")), store }).run("Pay.", { id: "order-7" }).result;
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function receipts(store: Store, options: ReceiptOptions = {}): ReceiptStore {
  if (typeof (Object(store) as Partial<Store>).append !== "function")
    throw new LoopletError("config_wrong_type", "store", "needs a store, such as memoryStore()");
  const { sign, onReceipt } = checkOptions(options, "", { sign: "function", onReceipt: "function" });
  const chains = new Map<string, Chain>();

  /**
   * The chain of the entries in the store. What this process has written must still be there; the entries after it
   * are of another process.
   */
  const chainOf = async (journal: string, kept: readonly JournalEntry[]): Promise<Chain> => {
    const known = chains.get(journal);
    const chain = new Chain(journal);
    if (known !== undefined) {
      await added(chain, kept.slice(0, known.seq));
      if ((await chain.head()) !== (await known.head())) throw changed(known.seq);
      chain.unseen = known.unseen;
    }
    if (kept.length > chain.seq) {
      await added(chain, kept.slice(chain.seq));
      chain.unseen = chain.seq;
    }
    return chain;
  };
  const chainAt = async (journal: string, seq: number): Promise<Chain> => {
    const known = chains.get(journal);
    if (known?.seq === seq) return known;
    return chainOf(journal, seq === 0 ? [] : ((await store.load(journal)) ?? []).slice(0, seq));
  };
  const signed = async (receipt: Receipt): Promise<Receipt> => {
    if (sign === undefined) return receipt;
    const signature = new Uint8Array(await sign(signedBytes(receipt)));
    return { ...receipt, signature: btoa(String.fromCharCode(...signature)) };
  };
  const tell = async (chain: Chain): Promise<void> => {
    try {
      await onReceipt?.(await signed(await chain.receipt()));
    } catch (error) {
      reportUncaught(error);
    }
  };
  const { lease, pending, ended, delete: remove } = store;
  return {
    load: (journal, after) => store.load(journal, after),
    ...(lease && { lease: (journal, asked) => lease.call(store, journal, asked) }),
    ...(pending && { pending: () => pending.call(store) }),
    ...(ended && { ended: (ageMs) => ended.call(store, ageMs) }),
    async append(journal, entries, expectedSeq, fence) {
      const chain = await chainAt(journal, expectedSeq);
      await store.append(journal, entries, expectedSeq, fence);
      await added(chain, entries);
      chains.set(journal, chain);
      if (onReceipt !== undefined) await tell(chain);
    },
    async receipt(journal) {
      const kept = (await store.load(journal)) ?? [];
      if (kept.length === 0) return undefined;
      return signed(await (await chainOf(journal, kept)).receipt());
    },
    ...(remove && {
      delete(journal) {
        chains.delete(journal);
        return remove.call(store, journal);
      },
    }),
  };
}

function changed(seq: number): LoopletError {
  const problem = `has other entries up to ${seq} than this process has written, so it has no receipt`;
  return new LoopletError("misuse_invalid_argument", "journal", problem);
}

async function added(chain: Chain, entries: readonly JournalEntry[]): Promise<void> {
  const wrong = await chain.add(entries);
  if (wrong === undefined) return;
  const problem = `has entry ${wrong} after entry ${chain.seq}: entries are missing, so it has no receipt`;
  throw new LoopletError("misuse_invalid_argument", "journal", problem);
}
