/**
 * The hash chain over the entries of a journal. Each head is the SHA-256 of the previous head, the number of the
 * entry and its text before the checksum. So one head commits to all entries up to it, byte by byte.
 */
import { LoopletError } from "../../core/api/errors.js";
import { withoutChecksum } from "../../core/kit/journal.js";
import type { JournalEntry } from "../../core/api/run.js";

/** The proof of a journal up to one of its entries. Plain JSON. @beta */
export interface Receipt {
  /** The number of this format. */
  readonly receipt: 1;
  /** The key of the journal: the id of a run, or of a chat. */
  readonly journal: string;
  /** The number of entries that it covers. */
  readonly entries: number;
  /** The head of the chain: SHA-256, 64 hexadecimal digits. */
  readonly head: string;
  /**
   * The number of entries at the beginning that the process has read from the store and has not written. The receipt
   * does not vouch for them: it needs a receipt of the process that wrote them. Default 0.
   */
  readonly unseen?: number | undefined;
  /** What your `sign` has returned for {@link signedBytes}, in base64. */
  readonly signature?: string | undefined;
}

/** The chain of one journal. */
export class Chain {
  readonly #journal: string;
  #head: string | undefined;
  /** The number of the last entry in it. */
  seq = 0;
  /** The number of the last entry that another process has written. */
  unseen = 0;

  constructor(journal: string) {
    this.#journal = journal;
  }

  /** Adds consecutive entries. Returns the first number that is out of order; it and later entries are not added. */
  async add(entries: readonly JournalEntry[]): Promise<number | undefined> {
    for (const { seq, json } of entries) {
      if (seq !== this.seq + 1) return seq;
      this.#head = await sha256(`${await this.head()}\n${seq}\n${withoutChecksum(json)}`);
      this.seq = seq;
    }
    return undefined;
  }

  async head(): Promise<string> {
    return (this.#head ??= await sha256(`looplet receipt 1\n${this.#journal}`));
  }

  async receipt(): Promise<Receipt> {
    const unseen = this.unseen === 0 ? {} : { unseen: this.unseen };
    return { receipt: 1, journal: this.#journal, entries: this.seq, head: await this.head(), ...unseen };
  }
}

/** The bytes of a receipt that its signature is of: UTF-8, four lines, and a fifth one if `unseen` is not 0. @beta */
export function signedBytes({ journal, entries, head, unseen = 0 }: Receipt): Uint8Array<ArrayBuffer> {
  const more = unseen === 0 ? "" : `\n${unseen}`;
  return new TextEncoder().encode(`looplet receipt 1\n${journal}\n${entries}\n${head}${more}`);
}

async function sha256(text: string): Promise<string> {
  const { subtle } = (globalThis as { crypto?: Partial<Crypto> }).crypto ?? {};
  if (subtle === undefined) {
    const problem = "is needed for receipts; browsers have it on pages of HTTPS and of localhost";
    throw new LoopletError("config_missing", "crypto.subtle", problem);
  }
  const hash = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
