/** The pieces of a rendered template: what its author wrote, and what came from inputs. */
import { StrictViolation } from "../errors.js";
import { isRoleMarker, looksLikeRole } from "./role-marker.js";

export interface Segment {
  kind: "literal" | "interp";
  text: string;
  /** The input that the text came from; `null` for a literal. */
  source: string | null;
  /** Whether that input is strict. */
  strict: boolean;
}

/** Gathers segments; literals that follow each other become one. */
export class Segments {
  readonly list: Segment[] = [];
  readonly #strict: ReadonlySet<string>;

  constructor(strict: Iterable<string> = []) {
    this.#strict = new Set(strict);
  }

  literal(text: string): void {
    const last = this.list.at(-1);
    if (text === "") return;
    if (last?.kind === "literal") last.text += text;
    else this.list.push({ kind: "literal", text, source: null, strict: false });
  }

  /** `sources` are all inputs that had a part in the text. */
  interp(text: string, sources: readonly string[]): void {
    const source = sources[0] ?? null;
    this.list.push({ kind: "interp", text, source, strict: sources.some((name) => this.#strict.has(name)) });
  }
}

export function textOf(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join("");
}

/**
 * Refuses strict text with a line that begins like a role marker, and strict text that makes one with the text
 * beside it.
 *
 * @throws StrictViolation
 */
export function checkStrict(segments: readonly Segment[]): void {
  const refuse = (source: string | null): never => {
    throw new StrictViolation(`StrictViolation: the input ${source} forges the beginning of a message`);
  };
  const whole = textOf(segments);
  let start = 0;
  for (const { text, source, strict } of segments) {
    const end = start + text.length;
    if (strict) {
      if (text.split(/\r?\n/).some(looksLikeRole)) refuse(source);
      const from = whole.lastIndexOf("\n", start - 1) + 1;
      const after = whole.indexOf("\n", end);
      const lines = whole.slice(start === 0 ? 0 : from, after < 0 ? undefined : after);
      // An empty value adds nothing to the author's marker.
      if (text !== "" && lines.split(/\r?\n/).some(isRoleMarker)) refuse(source);
    }
    start = end;
  }
}
