/**
 * The value so far of a JSON object that is still being written. Text is read once, in pieces, and text before the
 * first brace is skipped. Strings grow; numbers and words appear when they are complete.
 */

type Container = { [key: string]: unknown } | unknown[];

const enum Mode {
  /** Before the first brace. */
  Seek,
  /** A value, or the end of an empty array. */
  Value,
  /** A key, or the end of the object. */
  Key,
  Colon,
  /** A comma, or the end of the open object or array. */
  Comma,
  /** Inside a string that is a value, or a key. */
  Text,
  KeyText,
  /** Inside a number or a word. */
  Word,
  Done,
}

const ESCAPES: { readonly [letter: string]: string } = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

export class PartialJson {
  /** The value so far, changed in place from piece to piece. */
  value: Container | undefined;
  #mode = Mode.Seek;
  /** The open objects and arrays, each with the key or index that is being written. */
  readonly #open: { into: Container; key: string | number }[] = [];
  /** The current string, number or word, without an incomplete escape. */
  #text = "";
  #escape = "";

  /** Reads the next piece; returns whether the value has changed. */
  feed(piece: string): boolean {
    let changed = false;
    for (let at = 0; at < piece.length && this.#mode !== Mode.Done;) {
      if (this.#mode === Mode.Text || this.#mode === Mode.KeyText) {
        changed ||= this.#mode === Mode.Text;
        at = this.#string(piece, at);
      } else if (this.#mode === Mode.Word) {
        const end = endOfWord(piece, at);
        this.#text += piece.slice(at, end);
        at = end;
        if (at < piece.length) changed = this.#word() || changed;
      } else {
        changed = this.#sign(piece.charAt(at)) || changed;
        at++;
      }
    }
    if (this.#mode === Mode.Text) this.#put(this.#text);
    return changed;
  }

  #string(piece: string, from: number): number {
    let at = from;
    if (this.#escape !== "") return this.#unescape(piece, at);
    while (at < piece.length) {
      const char = piece.charCodeAt(at);
      if (char === 34 || char === 92) break;
      at++;
    }
    this.#text += piece.slice(from, at);
    if (at === piece.length) return at;
    if (piece.charCodeAt(at) === 92) this.#escape = "\\";
    else if (this.#mode === Mode.KeyText) {
      const top = this.#open.at(-1);
      if (top !== undefined) top.key = this.#text;
      this.#mode = Mode.Colon;
    } else {
      this.#put(this.#text);
      this.#mode = Mode.Comma;
    }
    return at + 1;
  }

  #unescape(piece: string, at: number): number {
    this.#escape += piece.charAt(at);
    const letter = this.#escape.charAt(1);
    if (letter !== "u") this.#text += ESCAPES[letter] ?? letter;
    else if (this.#escape.length === 6) {
      this.#text += String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16));
    } else return at + 1;
    this.#escape = "";
    return at + 1;
  }

  /** Ends a number or a word. A word that is not valid JSON leaves no trace. */
  #word(): boolean {
    this.#mode = Mode.Comma;
    try {
      this.#put(JSON.parse(this.#text));
      return true;
    } catch {
      return false;
    }
  }

  #sign(sign: string): boolean {
    const mode = this.#mode;
    if (sign === "{" && (mode === Mode.Seek || mode === Mode.Value)) return this.#begin({}, Mode.Key);
    if (mode === Mode.Seek || sign.trim() === "") return false;
    if (sign === "}" || sign === "]") this.#end();
    else if (mode === Mode.Colon) this.#mode = Mode.Value;
    else if (mode === Mode.Comma) this.#next();
    else if (sign === '"') {
      this.#text = "";
      this.#mode = mode === Mode.Key ? Mode.KeyText : Mode.Text;
    } else if (sign === "[") return this.#begin([], Mode.Value);
    else if (mode === Mode.Value) {
      this.#text = sign;
      this.#mode = Mode.Word;
    }
    return false;
  }

  #begin(into: Container, mode: Mode): boolean {
    if (this.#open.length === 0) this.value = into;
    else this.#put(into);
    this.#open.push({ into, key: 0 });
    this.#mode = mode;
    return true;
  }

  #end(): void {
    this.#open.pop();
    this.#mode = this.#open.length === 0 ? Mode.Done : Mode.Comma;
  }

  /** The state behind a comma. */
  #next(): void {
    const top = this.#open.at(-1);
    this.#mode = typeof top?.key === "number" && Array.isArray(top.into) ? Mode.Value : Mode.Key;
    if (this.#mode === Mode.Value && top !== undefined) top.key = Number(top.key) + 1;
  }

  #put(value: unknown): void {
    const top = this.#open.at(-1);
    if (top === undefined) return;
    const { into, key } = top;
    if (Array.isArray(into)) into[key as number] = value;
    else if (key === "__proto__")
      Object.defineProperty(into, key, {
        __proto__: null,
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      } as PropertyDescriptor);
    else into[key] = value;
  }
}

function endOfWord(piece: string, from: number): number {
  let at = from;
  while (at < piece.length && !",]} \n\r\t".includes(piece.charAt(at))) at++;
  return at;
}
