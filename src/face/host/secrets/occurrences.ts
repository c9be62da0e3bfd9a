/**
 * The places of a secret in a text of a stranger, however it is escaped. A search takes time in proportion to the text,
 * whatever the text and the secret are: a server may choose both.
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
 * The ways in which a text may be meant. Escapes that stand before a secret would swallow its beginning (`%` before `ab…`),
 * so the text is read without them too.
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
  const pieces: string[] = [];
  const starts = new Uint32Array(text.length + 1);
  let length = 0;
  let at = 0;
  /** Where the backslashes before the next letter begin. */
  let begun: number | undefined;
  const plain = (end: number): void => {
    if (end === at) return;
    pieces.push(text.slice(at, end));
    for (let from = at; from < end; from++) {
      starts[length++] = begun ?? from;
      begun = undefined;
    }
  };
  for (const found of text.matchAll(new RegExp(escapes, "gi"))) {
    plain(found.index);
    const code = found[1] ?? found[2];
    if (code === undefined) begun = found.index;
    else {
      pieces.push(String.fromCharCode(parseInt(code, 16)));
      starts[length++] = begun ?? found.index;
      begun = undefined;
    }
    at = found.index + found[0].length;
  }
  plain(text.length);
  starts[length] = begun ?? text.length;
  return { letters: small(pieces.join("")), starts };
}

/** Letters of ASCII in one case, as escapes and base64 in capitals need it. Each keeps its place. */
function small(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** A secret that is searched for. */
export class Needle {
  /** The secret as it stands, and with its own escapes read. */
  readonly #forms: readonly string[];
  readonly #hasEdges: boolean;
  readonly #fallbacks = new Map<string, Uint32Array>();

  /** With `hasEdges` a letter of base64 on each side belongs to what is found. */
  constructor(secret: string, hasEdges = false) {
    this.#forms = [...new Set(readingsOf(secret).map(({ letters }) => letters))].filter(
      (letters) => letters.length >= MIN_LETTERS,
    );
    this.#hasEdges = hasEdges;
  }

  /** The places in the text of a reading, and the beginning of the secret with which the text ends. */
  placesIn(reading: Reading, places: Place[]): void {
    for (const form of this.#forms) this.#search(form, reading, places);
  }

  #search(form: string, { letters, starts }: Reading, places: Place[]): void {
    // The platform finds the beginning faster than the loop below, and most texts have none.
    const first = letters.indexOf(form.slice(0, MIN_LETTERS));
    if (first < 0) return;
    const fallback = this.#fallbackOf(form);
    const add = (start: number, end: number): void => {
      const [from, to] = this.#hasEdges
        ? [start - Number(isBase64(letters[start - 1])), end + Number(isBase64(letters[end]))]
        : [start, end];
      places.push({ start: starts?.[from] ?? from, end: starts?.[to] ?? to });
    };
    let fitting = 0;
    for (let at = first; at < letters.length; at++) {
      const letter = letters.charCodeAt(at);
      while (fitting > 0 && form.charCodeAt(fitting) !== letter) fitting = fallback[fitting - 1]!;
      if (form.charCodeAt(fitting) === letter) fitting += 1;
      if (fitting === form.length) {
        add(at + 1 - fitting, at + 1);
        fitting = 0;
      }
    }
    if (fitting >= MIN_LETTERS) places.push({ start: startOf(letters.length - fitting), end: Infinity });
    function startOf(at: number): number {
      return starts?.[at] ?? at;
    }
  }

  /** For each beginning of the secret the length of its longest end that is a beginning too (Knuth, Morris, Pratt). */
  #fallbackOf(form: string): Uint32Array {
    let fallback = this.#fallbacks.get(form);
    if (fallback !== undefined) return fallback;
    fallback = new Uint32Array(form.length);
    for (let at = 1, fitting = 0; at < form.length; at++) {
      const letter = form.charCodeAt(at);
      while (fitting > 0 && form.charCodeAt(fitting) !== letter) fitting = fallback[fitting - 1]!;
      if (form.charCodeAt(fitting) === letter) fitting += 1;
      fallback[at] = fitting;
    }
    this.#fallbacks.set(form, fallback);
    return fallback;
  }
}

function isBase64(letter: string | undefined): boolean {
  return letter !== undefined && /[\w+/-]/.test(letter);
}

/** `text` with each of the places replaced; places that overlap are one. */
export function replaced(text: string, places: readonly Place[], mark: (found: string) => string): string {
  if (places.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  let open: { start: number; end: number } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    pieces.push(text.slice(done, open.start), mark(text.slice(open.start, open.end)));
    done = Math.min(open.end, text.length);
  };
  for (const { start, end } of [...places].sort((one, other) => one.start - other.start)) {
    if (open !== undefined && start < open.end) open.end = Math.max(open.end, end);
    else {
      close();
      open = { start, end };
    }
  }
  close();
  pieces.push(text.slice(done));
  return pieces.join("");
}
