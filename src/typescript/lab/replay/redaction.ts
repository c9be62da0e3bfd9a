/**
 * Takes secrets out of what a run has recorded. A body comes in chunks and its texts in pieces, and a secret may lie
 * across both, so a body is searched whole.
 */
import { redactor } from "../../core/kit/http.js";
import { jsonStrings, unescaped, type JsonString } from "./json-strings.js";
import { starredShapes, stars } from "./secret-shapes.js";

/** A part of a text with its replacement. Edits of a text are in order, and do not overlap. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export class Redaction {
  readonly #redact: ReturnType<typeof redactor>;
  readonly #own: (text: string) => string;
  readonly #names = new Map<string, string>();

  /** `own` is the user's: it sees each text that is searched. */
  constructor(secrets: readonly string[], own: (text: string) => string) {
    this.#redact = redactor(secrets);
    this.#own = own;
  }

  /** The name of a field, which `own` does not see. A run repeats few names very often. */
  name(name: string): string {
    let told = this.#names.get(name);
    if (told === undefined) this.#names.set(name, (told = this.#known(name)));
    return told;
  }

  text(text: string): string {
    return this.#own(this.#known(text));
  }

  #known(text: string): string {
    return starredShapes(this.#redact(text, stars));
  }

  /** The chunks of one body. */
  chunks(chunks: readonly string[]): string[] {
    const whole = chunks.join("");
    const edited = edit(chunks, this.#editsOfStrings(whole));
    const rest = edited.join("");
    return edit(edited, editsBetween(rest, this.text(rest)));
  }

  /** What changes in the texts inside the JSON of a body. */
  #editsOfStrings(body: string): Edit[] {
    const texts = new Map<string, JsonString[]>();
    for (const string of jsonStrings(body)) {
      const pieces = texts.get(string.key);
      if (pieces === undefined) texts.set(string.key, [string]);
      else pieces.push(string);
    }
    const edits: Edit[] = [];
    for (const pieces of texts.values()) edits.push(...this.#editsOfText(body, pieces));
    return edits.sort((one, other) => one.start - other.start);
  }

  #editsOfText(body: string, pieces: readonly JsonString[]): Edit[] {
    const read = pieces.map(({ start, end }) => unescaped(body.slice(start, end)));
    const texts = read.map(({ text }) => text);
    const whole = texts.join("");
    const told = this.text(whole);
    if (told === whole) return [];
    const edited = edit(texts, editsBetween(whole, told));
    return pieces.flatMap(({ start }, index) => {
      const { text, at } = read[index]!;
      return editsBetween(text, edited[index]!).map((one) => ({
        start: start + at(one.start),
        end: start + at(one.end),
        text: JSON.stringify(one.text).slice(1, -1),
      }));
    });
  }
}

/** What makes `after` of `before`: each run of changed characters; for another length, all between what both share. */
function editsBetween(before: string, after: string): Edit[] {
  if (before === after) return [];
  const edits: Edit[] = [];
  if (before.length === after.length) {
    for (let at = 0; at < before.length; at++) {
      if (before[at] === after[at]) continue;
      const start = at;
      while (at < before.length && before[at] !== after[at]) at++;
      edits.push({ start, end: at, text: after.slice(start, at) });
    }
    return edits;
  }
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let behind = 0;
  while (behind < least - start && before.at(-1 - behind) === after.at(-1 - behind)) behind++;
  return [
    {
      start,
      end: before.length - behind,
      text: after.slice(start, after.length - behind),
    },
  ];
}

/**
 * The pieces of a text after edits of the whole. A replacement of another length goes to the piece in which the edit
 * begins.
 */
function edit(pieces: readonly string[], edits: readonly Edit[]): string[] {
  if (edits.length === 0) return [...pieces];
  let at = 0;
  let next = 0;
  return pieces.map((piece) => {
    const end = at + piece.length;
    const made: string[] = [];
    let from = at;
    for (; next < edits.length && edits[next]!.start < end; next++) {
      const one = edits[next]!;
      const isEven = one.end - one.start === one.text.length;
      const [start, stop] = [Math.max(one.start, at), Math.min(one.end, end)];
      made.push(piece.slice(from - at, start - at));
      if (isEven) made.push(one.text.slice(start - one.start, stop - one.start));
      else if (one.start >= at) made.push(one.text);
      from = stop;
      // The rest of the edit is in the next piece.
      if (one.end > end) break;
    }
    made.push(piece.slice(from - at));
    at = end;
    return made.join("");
  });
}
