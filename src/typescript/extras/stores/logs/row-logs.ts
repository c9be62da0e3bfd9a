/**
 * Logs in the SQLite database of a Durable Object. A call is complete when it returns, so nothing happens between
 * storing an entry and sending it. A text that exceeds the size limit of a row has its beginning in its row, and the
 * rest in others.
 */
import type { JournalEntry } from "../../../core/api/run.js";
import type { DurableObjectStorageLike } from "../durable-object.js";
import { piecesOf } from "../long/pieces.js";

/** Characters of a text in a row, which may have 2 MB, of up to three bytes a character. */
const MAX_CHARS = 600_000;

export class RowLogs {
  readonly #sql: DurableObjectStorageLike["sql"];

  constructor({ sql }: DurableObjectStorageLike) {
    this.#sql = sql;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS looplet_entries (key TEXT NOT NULL, seq INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (key, seq))",
    );
    sql.exec(
      "CREATE TABLE IF NOT EXISTS looplet_rests (key TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL, piece TEXT NOT NULL, PRIMARY KEY (key, seq, place))",
    );
  }

  /** The number of the last entry; 0 before the first. */
  last(key: string): number {
    const [row] = this.#sql.exec("SELECT MAX(seq) AS last FROM looplet_entries WHERE key = ?", key).toArray();
    return Number(row?.["last"] ?? 0);
  }

  append(key: string, { seq, json }: JournalEntry): void {
    const [beginning, ...rest] = piecesOf(json, MAX_CHARS);
    this.#sql.exec("INSERT INTO looplet_entries (key, seq, entry) VALUES (?, ?, ?)", key, seq, beginning!);
    const insert = "INSERT INTO looplet_rests (key, seq, place, piece) VALUES (?, ?, ?, ?)";
    for (const [place, piece] of rest.entries()) this.#sql.exec(insert, key, seq, place, piece);
  }

  /** The entries after a number, at most `most`. */
  behind(key: string, after: number, most = -1): JournalEntry[] {
    const query = "SELECT seq, entry FROM looplet_entries WHERE key = ? AND seq > ? ORDER BY seq LIMIT ?";
    const rows = this.#sql.exec(query, key, after, most).toArray() as { seq: number; entry: string }[];
    const rests = this.#rests(key, after, rows.at(-1)?.seq ?? after);
    return rows.map(({ seq, entry }) => ({ seq, json: entry + (rests.get(seq) ?? "") }));
  }

  /** The rests of the texts after one number and up to another, by number. */
  #rests(key: string, after: number, upto: number): Map<number, string> {
    const query =
      "SELECT seq, piece FROM looplet_rests WHERE key = ? AND seq > ? AND seq <= ? ORDER BY seq, place";
    const rests = new Map<number, string>();
    for (const row of this.#sql.exec(query, key, after, upto).toArray()) {
      const seq = Number(row["seq"]);
      rests.set(seq, (rests.get(seq) ?? "") + String(row["piece"]));
    }
    return rests;
  }

  /** Deletes the entries up to a number. */
  delete(key: string, upto = Number.MAX_SAFE_INTEGER): void {
    for (const table of ["looplet_entries", "looplet_rests"])
      this.#sql.exec(`DELETE FROM ${table} WHERE key = ? AND seq <= ?`, key, upto);
  }
}
