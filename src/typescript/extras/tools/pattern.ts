/**
 * Regular expressions of a model, matched without backtracking: all paths through the pattern are followed at the
 * same time, character by character (Thompson 1968, Pike's variant for the position of a match). The time is at most
 * the product of text and pattern, and a step budget limits it. The syntax is JavaScript's without back references
 * and lookaround, which need backtracking.
 */

/** Characters of a pattern that a model may write. */
export const MOST_CHARS = 1000;

/** Instructions of a pattern, with each repetition written out. */
const MOST_CODE = 4000;

/** Steps between two checks of the signal. */
const SLICE = 500_000;

export interface PatternOptions {
  ignoreCase?: boolean | undefined;
  /** Whether `.` also matches a line break. */
  dotAll?: boolean | undefined;
  /** Whether the pattern must match the whole text. */
  whole?: boolean | undefined;
  /** The most characters. Default 1,000. */
  mostChars?: number | undefined;
}

/** The remaining steps of a call. */
export class Steps {
  #left: number;
  #slice = SLICE;

  constructor(most: number) {
    this.#left = most;
  }

  /** Uses up steps. Returns true if it is time to yield. @throws RangeError when none are left */
  take(count: number): boolean {
    this.#left -= count;
    this.#slice -= count;
    if (this.#left < 0) throw new RangeError("The search takes too many steps.");
    if (this.#slice > 0) return false;
    this.#slice = SLICE;
    return true;
  }
}

/** The place of a match. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type Assertion = "lineStart" | "lineEnd" | "word" | "noWord" | "textStart" | "textEnd";

type Node =
  | { readonly kind: "letter"; readonly letters: Letters }
  | { readonly kind: "all" | "any"; readonly of: readonly Node[] }
  | {
      readonly kind: "times";
      readonly of: Node;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly kind: "at"; readonly where: Assertion };

type Code =
  | { readonly op: "letter"; readonly letters: Letters }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "at"; readonly where: Assertion }
  | { readonly op: "match" };

/** The characters that one position of a pattern matches, according to the platform's own expression. */
class Letters {
  readonly #one: RegExp;
  readonly #low: Uint8Array;
  readonly #others = new Map<number, boolean>();

  constructor(source: string, flags: string) {
    this.#one = new RegExp(`^${source}$`, flags);
    this.#low = Uint8Array.from({ length: 256 }, (_, code) => Number(this.#test(code)));
  }

  has(code: number): boolean {
    if (code < 256) return this.#low[code] === 1;
    let known = this.#others.get(code);
    if (known === undefined) this.#others.set(code, (known = this.#test(code)));
    return known;
  }

  #test(code: number): boolean {
    return this.#one.test(String.fromCharCode(code));
  }
}

/** A compiled pattern. */
export class Pattern {
  readonly #code: Code[] = [];
  /** Whether a match may begin with this character. Undefined if it may begin with none. */
  readonly #first: Uint8Array | undefined;
  /** Positions that `#follow` has to visit. Empty between its calls. */
  readonly #open: number[] = [];

  /** @throws SyntaxError for a pattern that is not valid, or that is not supported */
  constructor(source: string, options: PatternOptions = {}) {
    const { mostChars = MOST_CHARS } = options;
    if (source.length > mostChars)
      throw new SyntaxError(`The pattern has more than ${mostChars} characters.`);
    // The platform checks whether it is valid.
    new RegExp(source);
    const node = new Reader(source, options).read();
    this.#emit(options.whole === true ? whole(node) : node);
    this.#push({ op: "match" });
    this.#first = this.#firsts();
  }

  /** Finds the first match that begins between `from` and `to`. Yields at intervals, so that others can run. */
  *find(text: string, from: number, to: number, steps: Steps): Generator<undefined, Span | undefined> {
    let [now, next] = [new Threads(this.#code.length), new Threads(this.#code.length)];
    let found: Span | undefined;
    for (let at = from; ; at += 1) {
      if (now.count === 0 && found === undefined && this.#first !== undefined) {
        while (at < to && !mayBegin(this.#first, text.charCodeAt(at))) at += 1;
        if (at >= to) return undefined;
      }
      let taken = 1;
      if (found === undefined) taken += this.#follow(now, 0, at, text, at);
      if (now.count === 0 && found !== undefined) return found;
      next.clear();
      for (let index = 0; index < now.count; index += 1) {
        const place = now.places[index]!;
        const code = this.#code[place]!;
        const start = now.starts[index]!;
        if (code.op === "match") {
          found = { start, end: at };
          // Paths after this one have lower priority.
          break;
        }
        if (code.op === "letter" && at < to && code.letters.has(text.charCodeAt(at)))
          taken += this.#follow(next, place + 1, start, text, at + 1);
      }
      if (steps.take(taken + now.count)) yield;
      if (at >= to) return found;
      [now, next] = [next, now];
    }
  }

  /** Adds the places that are reached from one without a letter, the preferred ones first. Returns their number. */
  #follow(threads: Threads, from: number, start: number, text: string, at: number): number {
    const open = this.#open;
    open.push(from);
    let steps = 0;
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (!threads.enter(place)) continue;
      steps += 1;
      const code = this.#code[place]!;
      if (code.op === "jump") open.push(code.to);
      else if (code.op === "split") open.push(code.second, code.first);
      else if (code.op !== "at") threads.add(place, start);
      else if (holds(code.where, text, at)) open.push(place + 1);
    }
    return steps;
  }

  #push(code: Code): number {
    if (this.#code.length >= MOST_CODE)
      throw new SyntaxError("The pattern is too large when its repetitions are written out.");
    return this.#code.push(code) - 1;
  }

  #emit(node: Node): void {
    switch (node.kind) {
      case "letter":
        return void this.#push({ op: "letter", letters: node.letters });
      case "at":
        return void this.#push({ op: "at", where: node.where });
      case "all":
        return node.of.forEach((one) => this.#emit(one));
      case "any":
        return this.#emitAny(node.of);
      case "times":
        return this.#emitTimes(node);
    }
  }

  #emitAny(of: readonly Node[]): void {
    const jumps: { to: number }[] = [];
    for (const [index, one] of of.entries()) {
      if (index === of.length - 1) this.#emit(one);
      else {
        const split = this.#split(false);
        this.#emit(one);
        const jump = { op: "jump" as const, to: 0 };
        this.#push(jump);
        jumps.push(jump);
        split(this.#code.length);
      }
    }
    for (const jump of jumps) jump.to = this.#code.length;
  }

  #emitTimes({ of, min, max, lazy }: Node & { kind: "times" }): void {
    for (let count = 0; count < min; count += 1) this.#emit(of);
    if (max === Infinity) {
      const top = this.#code.length;
      const leave = this.#split(lazy);
      this.#emit(of);
      this.#push({ op: "jump", to: top });
      leave(this.#code.length);
      return;
    }
    const leaves: ((to: number) => void)[] = [];
    for (let count = min; count < max; count += 1) {
      leaves.push(this.#split(lazy));
      this.#emit(of);
    }
    for (const leave of leaves) leave(this.#code.length);
  }

  /**
   * A fork to the next position and to a later one, which is set by the returned function. `isSecond` prefers the
   * latter.
   */
  #split(isSecond: boolean): (to: number) => void {
    const split = { op: "split" as const, first: this.#code.length + 1, second: this.#code.length + 1 };
    this.#push(split);
    return (to) => void (split[isSecond ? "first" : "second"] = to);
  }

  #firsts(): Uint8Array | undefined {
    const first = new Uint8Array(256);
    const [open, seen] = [[0], new Set<number>()];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      const code = this.#code[place]!;
      if (code.op === "match") return undefined;
      if (code.op === "letter") first.forEach((_, at) => code.letters.has(at) && (first[at] = 1));
      else if (code.op === "jump") open.push(code.to);
      else if (code.op === "split") open.push(code.first, code.second);
      else open.push(place + 1);
    }
    return first;
  }
}

/** The paths through a pattern at one character, the preferred ones first, with the positions where they began. */
class Threads {
  readonly places: Int32Array;
  readonly starts: Int32Array;
  count = 0;
  readonly #marks: Int32Array;
  #round = 1;

  constructor(size: number) {
    [this.places, this.starts, this.#marks] = [size, size, size].map((length) => new Int32Array(length)) as [
      Int32Array,
      Int32Array,
      Int32Array,
    ];
  }

  /** False for a place that was entered before. */
  enter(place: number): boolean {
    if (this.#marks[place] === this.#round) return false;
    this.#marks[place] = this.#round;
    return true;
  }

  add(place: number, start: number): void {
    this.places[this.count] = place;
    this.starts[this.count] = start;
    this.count += 1;
  }

  clear(): void {
    this.count = 0;
    this.#round += 1;
  }
}

function whole(node: Node): Node {
  return { kind: "all", of: [{ kind: "at", where: "textStart" }, node, { kind: "at", where: "textEnd" }] };
}

function mayBegin(first: Uint8Array, code: number): boolean {
  return code > 255 || first[code] === 1;
}

function holds(where: Assertion, text: string, at: number): boolean {
  switch (where) {
    case "textStart":
      return at === 0;
    case "textEnd":
      return at === text.length;
    case "lineStart":
      return at === 0 || isLineEnd(text.charCodeAt(at - 1));
    case "lineEnd":
      return at === text.length || isLineEnd(text.charCodeAt(at));
    default:
      return (isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))) === (where === "word");
  }
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13 || code === 0x2028 || code === 0x2029;
}

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
  );
}

/** Reads a pattern that is one of JavaScript's. */
class Reader {
  readonly #source: string;
  readonly #options: PatternOptions;
  readonly #letters = new Map<string, Letters>();
  #at = 0;

  constructor(source: string, options: PatternOptions) {
    this.#source = source;
    this.#options = options;
  }

  read(): Node {
    const ways = [this.#sequence()];
    while (this.#eat(/\|/y)) ways.push(this.#sequence());
    return ways.length === 1 ? ways[0]! : { kind: "any", of: ways };
  }

  #sequence(): Node {
    const of: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) of.push(this.#repeated());
    return { kind: "all", of };
  }

  #repeated(): Node {
    const of = this.#single();
    const found = this.#eat(/(?:([*+?])|\{(\d+)(,(\d*))?\})(\??)/y);
    if (found === null) return of;
    const [, sign, least, comma, most] = found;
    const lazy = found[5] === "?";
    const counted = comma === undefined ? Number(least) : most === "" ? Infinity : Number(most);
    const [min, max] =
      sign === "*"
        ? [0, Infinity]
        : sign === "+"
          ? [1, Infinity]
          : sign === "?"
            ? [0, 1]
            : [Number(least), counted];
    return { kind: "times", of, min, max, lazy };
  }

  #single(): Node {
    if (this.#eat(/\^/y)) return { kind: "at", where: "lineStart" };
    if (this.#eat(/\$/y)) return { kind: "at", where: "lineEnd" };
    if (this.#eat(/\\b/y)) return { kind: "at", where: "word" };
    if (this.#eat(/\\B/y)) return { kind: "at", where: "noWord" };
    if (this.#eat(/\(\?(?!:|<[^=!])/y)) throw unsupported("lookaround and modifiers");
    if (this.#eat(/\((?:\?:|\?<[^>]*>)?/y)) {
      const inside = this.read();
      this.#eat(/\)/y);
      return inside;
    }
    if (this.#eat(/\\(?:[1-9]|0\d|k)/y)) throw unsupported("back references");
    if (this.#eat(/\\[pP]/y)) throw unsupported("\\p");
    const source = this.#eat(/\[(?:\\[^]|[^\]\\])*\]|\\(?:x[\da-f]{2}|u[\da-f]{4}|c[a-z]|[^])|[^]/iy)![0];
    return { kind: "letter", letters: this.#lettersOf(source) };
  }

  #lettersOf(source: string): Letters {
    const { ignoreCase, dotAll } = this.#options;
    const known = this.#letters.get(source);
    if (known !== undefined) return known;
    // A single bracket or brace is a literal.
    const one = source.length === 1 && source !== "." ? source.replace(/[\]{}/-]/, "\\$&") : source;
    const letters = new Letters(one, `${ignoreCase ? "i" : ""}${dotAll ? "s" : ""}`);
    this.#letters.set(source, letters);
    return letters;
  }

  /** Takes what the sticky expression finds here. */
  #eat(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }
}

function unsupported(what: string): SyntaxError {
  return new SyntaxError(`Patterns have no ${what} here. Search for something wider and look at the lines.`);
}
