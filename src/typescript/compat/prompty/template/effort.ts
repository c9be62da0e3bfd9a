/**
 * The limits of a template. An untrusted file cannot keep its reader busy for long, whatever its template contains.
 */
import { ValueError } from "../errors.js";

/** Blocks in each other, and brackets in each other. Deeper ones could overflow the stack. */
const MAX_DEPTH = 50;
/** Pieces, items of loops, and signs of expressions. A long value counts once for each 100 characters or items. */
const MAX_STEPS = 1_000_000;
/** Characters of a rendered template. */
const MAX_PRINTED = 16 * 1024 * 1024;

/** What a template has cost so far. */
export class Effort {
  #steps = 0;
  #printed = 0;

  /** @throws ValueError */
  take(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw tooLarge(`more than ${MAX_STEPS} steps`);
  }

  /** Counts a value that is looked through or made. @throws ValueError */
  look(value: unknown): void {
    if (typeof value === "string" || Array.isArray(value)) this.take(Math.floor(value.length / 100));
  }

  /** Counts the names of a mapping, which are listed one by one. @throws ValueError */
  list(names: readonly unknown[]): void {
    this.take(names.length);
  }

  /** Counts the inputs of a value, which are gathered for each piece of text. @throws ValueError */
  gather(sources: readonly string[]): void {
    this.take(Math.floor(sources.length / 10));
  }

  /** Counts a search for a text in another one, which may compare each place with all of it. @throws ValueError */
  search(whole: string, part: string): void {
    this.take(Math.ceil(whole.length / 100) * Math.ceil(part.length / 100));
  }

  /** Counts a piece of the text that is made. @throws ValueError */
  print(text: string): void {
    this.take();
    this.#printed += text.length;
    this.checkLength(this.#printed);
  }

  /** @throws ValueError for a text that is too long to be made */
  checkLength(length: number): void {
    if (length > MAX_PRINTED) throw tooLarge(`a text of more than ${MAX_PRINTED} characters`);
  }
}

/** Counts how deep a reader is. @throws ValueError */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new ValueError(`Invalid template: more than ${MAX_DEPTH} blocks or brackets stand in each other`);
}

function tooLarge(what: string): ValueError {
  return new ValueError(`The template takes ${what}; shorten its loops, or give it smaller inputs`);
}
