/**
 * Texts that are longer than a value of their database may be. Their pieces are written first, under a name of their
 * own. A value that names the pieces is written last: this one write decides about a long text as it does about a
 * short one.
 */
import { randomUuid } from "../../random-uuid.js";

/** The pieces of a text. */
export interface Pieces {
  /** Their name. */
  readonly pieces: string;
  readonly count: number;
}

/** The place of the pieces of a journal, by their name and their number from 0. */
export interface PieceTable {
  put(name: string, at: number, piece: string): Promise<unknown>;
  get(name: string, at: number): Promise<string | undefined>;
  delete(name: string, at: number): Promise<unknown>;
}

/** Parts of a text with at most `maxChars` UTF-16 characters. None ends within a surrogate pair. */
export function piecesOf(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at < text.length;) {
    const isWithinLetter = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(
      text.slice(at + maxChars - 1, at + maxChars + 1),
    );
    const end = at + maxChars - Number(isWithinLetter);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Writes the pieces of a text; undefined if one value may have all of it. */
export async function putPieces(
  table: PieceTable,
  text: string,
  maxChars: number,
): Promise<Pieces | undefined> {
  if (text.length <= maxChars) return undefined;
  const all = piecesOf(text, maxChars);
  const pieces = { pieces: randomUuid(), count: all.length };
  try {
    for (const [at, piece] of all.entries()) await table.put(pieces.pieces, at, piece);
  } catch (error) {
    // The error of the write is more useful than an error of the deletion.
    await deletePieces(table, pieces).catch(() => {});
    throw error;
  }
  return pieces;
}

/**
 * Deletes unreferenced pieces of a text. A failed write may have reached its host all the same, so its pieces stay
 * until their journal is deleted.
 */
export async function deletePieces(table: PieceTable, { pieces, count }: Pieces): Promise<void> {
  for (let at = 0; at < count; at++) await table.delete(pieces, at);
}

/**
 * The number of pieces to read at the same time. A damaged count reads at most this many after the last existing
 * piece.
 */
const AT_ONCE = 32;

/** The text of these pieces, up to the first missing one. */
export async function textOf(table: PieceTable, { pieces, count }: Pieces): Promise<string> {
  const read: string[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - from);
    const some = await Promise.all(Array.from({ length }, (_, at) => table.get(pieces, from + at)));
    const lost = some.indexOf(undefined);
    read.push(...(some.slice(0, lost < 0 ? length : lost) as string[]));
    if (lost >= 0) break;
  }
  return read.join("");
}

/**
 * The text in a column that refers to these pieces. No text of entries looks like it, because each of those ends with
 * a line break.
 */
export function wordsFor({ pieces, count }: Pieces): string {
  return `pieces ${pieces} ${count}`;
}

/** The pieces that such a column refers to. Undefined if it contains the text itself. */
export function piecesIn(column: string): Pieces | undefined {
  const [, pieces, count] = /^pieces (\S+) (\d+)$/.exec(column) ?? [];
  return pieces === undefined ? undefined : { pieces, count: Number(count) };
}
