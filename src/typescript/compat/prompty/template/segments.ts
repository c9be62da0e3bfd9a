/** The pieces of a rendered template: the author's text, and the inputs. */
import { StrictViolation } from "../errors.js";
import { Effort } from "./effort.js";
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
  /** What the template may still cost. */
  readonly effort = new Effort();
  readonly #strict: ReadonlySet<string>;

  constructor(strict: Iterable<string> = []) {
    this.#strict = new Set(strict);
  }

  literal(text: string): void {
    const last = this.list.at(-1);
    this.effort.print(text);
    if (text === "") return;
    if (last?.kind === "literal") last.text += text;
    else this.list.push({ kind: "literal", text, source: null, strict: false });
  }

  /** `sources` are all inputs that had a part in the text. */
  interp(text: string, sources: readonly string[]): void {
    this.effort.print(text);
    const source = sources[0] ?? null;
    this.list.push({ kind: "interp", text, source, strict: sources.some((name) => this.#strict.has(name)) });
  }
}

export function textOf(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join("");
}

/**
 * Refuses strict text with a line that begins like a role marker, and strict text that forms one with the adjacent
 * text.
 *
 * @throws StrictViolation
 */
export function checkStrict(segments: readonly Segment[]): void {
  if (!segments.some(({ strict }) => strict)) return;
  const refuse = (source: string | null): never => {
    throw new StrictViolation(`StrictViolation: the input ${source} forges the beginning of a message`);
  };
  const markers = markersOf(textOf(segments));
  let [start, next] = [0, 0];
  for (const { text, source, strict } of segments) {
    const end = start + text.length;
    while (next < markers.length && markers[next]!.end < start) next++;
    if (strict) {
      if (text.split("\n").some(looksLikeRole)) refuse(source);
      // An empty value adds nothing to the author's marker.
      if (text !== "" && next < markers.length && markers[next]!.start <= end) refuse(source);
    }
    start = end;
  }
}

/** The lines of a text that begin a message. */
function markersOf(whole: string): { start: number; end: number }[] {
  const markers: { start: number; end: number }[] = [];
  let start = 0;
  for (const line of whole.split("\n")) {
    if (isRoleMarker(line)) markers.push({ start, end: start + line.length });
    start += line.length + 1;
  }
  return markers;
}
