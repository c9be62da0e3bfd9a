/**
 * The rest of texts that are longer than a row of a Durable Object may be. The row of such a text has its beginning.
 * Both are written in one transaction.
 */
import type { DurableObjectStorageLike } from "../durable-object.js";
import { piecesOf } from "./pieces.js";

/** Characters of a text in a row, which may have 2 MB, of up to three bytes a character. */
const MAX_CHARS = 600_000;

export class Rests {
  readonly #sql: DurableObjectStorageLike["sql"];
  readonly #table: string;

  constructor({ sql }: DurableObjectStorageLike, table: string) {
    this.#sql = sql;
    this.#table = table;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (key TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL, piece TEXT NOT NULL, PRIMARY KEY (key, seq, place))`,
    );
  }

  /** Keeps the rest of a text under the number that `write` returns, which gets the beginning. */
  keep(key: string, text: string, write: (beginning: string) => number): number {
    const [beginning, ...rest] = piecesOf(text, MAX_CHARS);
    const seq = write(beginning!);
    for (const [place, piece] of rest.entries())
      this.#sql.exec(
        `INSERT INTO ${this.#table} (key, seq, place, piece) VALUES (?, ?, ?, ?)`,
        key,
        seq,
        place,
        piece,
      );
    return seq;
  }

  /** The rests of the texts behind a number, by their numbers, and up to another. */
  behind(key: string, seq: number, upto = Number.MAX_SAFE_INTEGER): Map<number, string> {
    const query = `SELECT seq, piece FROM ${this.#table} WHERE key = ? AND seq > ? AND seq <= ? ORDER BY seq, place`;
    const rests = new Map<number, string>();
    for (const row of this.#sql.exec(query, key, seq, upto).toArray()) {
      const at = Number(row["seq"]);
      rests.set(at, (rests.get(at) ?? "") + String(row["piece"]));
    }
    return rests;
  }

  /** Deletes the rests of the texts up to a number. */
  delete(key: string, upto = Number.MAX_SAFE_INTEGER): void {
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE key = ? AND seq <= ?`, key, upto);
  }
}
