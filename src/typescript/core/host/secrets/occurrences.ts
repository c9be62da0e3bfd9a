/**
 * The places of a secret in a text of a stranger, however it is escaped. A search takes time in proportion to the
 * text, whatever the text and the secret are: a server may choose both.
 */

/** A part of a text. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A text as it reads: small letters, and the place in the text at which each begins. The last place ends the last letter. */
export interface Reading {
  readonly letters: string;
  readonly starts: ArrayLike<number> | undefined;
}

/** The shortest secret, and the shortest beginning of one, in letters. Shorter ones would garble texts. */
export const MIN_LETTERS = 8;

/** Backslashes, which escape the letter behind them, with the code of a letter that is written as one. */
const IN_JSON = String.raw`\\+(?:u([0-9a-f]{4}))?`;

/** The code of a byte, also where its `%` is escaped in turn. */
const IN_URL = "%(?:25)*([0-9a-f]{2})";

/**
 * The ways in which a text may be meant. Escapes that stand before a secret would swallow its beginning (`%` before
 * `ab…`), so the text is read without them too.
 */
export function readingsOf(text: string): Reading[] {
  const ways = [
    ...(text.includes("\\") ? [IN_JSON] : []),
    ...(text.includes("%") ? [IN_URL] : []),
    ...(text.includes("\\") && text.includes("%") ? [`${IN_JSON}|${IN_URL}`] : []),
  ];
  return [{ letters: small(text), starts: undefined }, ...ways.map((way) => read(text, way))];
}

function read(text: string, escapes: string): Reading {
  const starts = new Uint32Array(text.length + 1);
  let letters = "";
  let at = 0;
  /** Where the backslashes before the next letter begin. */
  let begun: number | undefined;
  /** Takes the letters, the first of which begins at `start`. */
  const take = (more: string, start: number): void => {
    for (let place = 0; place < more.length; place++)
      starts[letters.length + place] = place === 0 ? (begun ?? start) : start + place;
    letters += more;
    if (more !== "") begun = undefined;
  };
  for (const { index, 0: found, 1: unit, 2: byte } of text.matchAll(new RegExp(escapes, "gi"))) {
    take(text.slice(at, index), at);
    const code = unit ?? byte;
    if (code === undefined) begun = index;
    else take(String.fromCharCode(parseInt(code, 16)), index);
    at = index + found.length;
  }
  take(text.slice(at), at);
  starts[letters.length] = begun ?? text.length;
  return { letters: small(letters), starts };
}

/** Letters of ASCII in one case, as escapes and base64 in capitals need it. Each keeps its place. */
function small(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** A secret that is searched for. */
export interface Needle {
  /** The secret verbatim, and with its own escapes decoded. */
  readonly forms: readonly string[];
  /** Whether a letter of base64 on each side belongs to what is found. */
  readonly hasEdges: boolean;
}

export function needleOf(secret: string, hasEdges = false): Needle {
  const forms = new Set(readingsOf(secret).map(({ letters }) => letters));
  return { forms: [...forms].filter(({ length }) => length >= MIN_LETTERS), hasEdges };
}

/** Adds the places of the needle in the text of a reading, and that of its beginning with which the text ends. */
export function find({ forms, hasEdges }: Needle, { letters, starts }: Reading, places: Place[]): void {
  const isEdge = (at: number): boolean => hasEdges && /^[\w+/-]$/.test(letters.charAt(at));
  const placeOf = (at: number): number => starts?.[at] ?? at;
  for (const form of forms) {
    // The platform finds the beginning faster than the loop below, and most texts have none.
    let at = letters.indexOf(form.slice(0, MIN_LETTERS));
    if (at < 0) continue;
    const fallback = fallbackOf(form);
    let fitting = 0;
    for (; at < letters.length; at++) {
      fitting = fittingBehind(form, fallback, fitting, letters.charCodeAt(at));
      if (fitting < form.length) continue;
      const [start, end] = [at + 1 - fitting, at + 1];
      places.push({
        start: placeOf(start - Number(isEdge(start - 1))),
        end: placeOf(end + Number(isEdge(end))),
      });
      fitting = 0;
    }
    if (fitting >= MIN_LETTERS) places.push({ start: placeOf(at - fitting), end: Infinity });
  }
}

/** For each beginning of a text the length of its longest end that is a beginning too (Knuth, Morris, Pratt). */
export function fallbackOf(form: string): Uint32Array {
  const fallback = new Uint32Array(form.length);
  for (let at = 1; at < form.length; at++)
    fallback[at] = fittingBehind(form, fallback, fallback[at - 1]!, form.charCodeAt(at));
  return fallback;
}

/** How many letters of the form end with this letter, if so many ended before it. */
export function fittingBehind(form: string, fallback: Uint32Array, before: number, letter: number): number {
  let fitting = before;
  while (fitting > 0 && form.charCodeAt(fitting) !== letter) fitting = fallback[fitting - 1]!;
  return form.charCodeAt(fitting) === letter ? fitting + 1 : fitting;
}

/** `text` with each of the places replaced; places that overlap are one. */
export function replaced(text: string, places: Place[], mark: (found: string) => string): string {
  const pieces: string[] = [];
  let done = 0;
  places.sort((one, other) => one.start - other.start);
  for (let at = 0; at < places.length; at++) {
    const { start } = places[at]!;
    let { end } = places[at]!;
    for (; at + 1 < places.length && places[at + 1]!.start < end; at++)
      end = Math.max(end, places[at + 1]!.end);
    pieces.push(text.slice(done, start), mark(text.slice(start, end)));
    done = end;
  }
  return pieces.join("") + text.slice(done);
}
