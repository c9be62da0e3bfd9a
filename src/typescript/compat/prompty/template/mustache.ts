/**
 * Mustache: `{{a.b}}`, sections, inverted sections and comments. No text is escaped, and there are no partials.
 *
 * The package `mustache` cannot replace it. It renders a text without the input that each piece came from, which
 * strict inputs need. It also has no limits: at version 4.2.0 three sections in each other over 200 items make 8
 * million pieces, and 5,000 nested sections overflow the stack.
 */
import { ValueError } from "../errors.js";
import { checkDepth } from "./effort.js";
import { readExpression, type Expression, type Scope } from "./expression.js";
import { isMap } from "../file/frontmatter.js";
import { Segments, type Segment } from "./segments.js";
import type { PromptInputs } from "../types.js";
import { isTruthy, printed } from "./values.js";

/** @throws ValueError for a section that does not end */
export function renderMustache(
  template: string,
  inputs: PromptInputs,
  strict: Iterable<string> = [],
): Segment[] {
  const segments = new Segments(strict);
  const { effort } = segments;
  const tags = tagsOf(template);
  const read = reader();
  let depth = 0;
  /** Renders from tag `at` up to the end of `section`. Returns the tag after it. */
  const render = (at: number, start: number, section: string, place: Place, shows: boolean): number => {
    let from = start;
    checkDepth(++depth);
    for (let index = at; index < tags.length; index++) {
      const { start: tagStart, end: tagEnd, sign, name } = tags[index]!;
      effort.take();
      if (shows) segments.literal(template.slice(from, tagStart));
      from = tagEnd;
      if (sign === "/") {
        if (name !== section) throw new ValueError(`Invalid template: {{/${name}}} ends no section`);
        depth--;
        return index;
      }
      if (sign === "!") continue;
      if (sign !== "#" && sign !== "^") {
        if (shows) segments.interp(printed(read(name).value(place), effort), sourcesOf(read(name), place));
        continue;
      }
      const value = shows ? read(name).value(place) : undefined;
      const isShown = shows && isTruthy(value, effort) === (sign === "#");
      const items: unknown[] = !isShown ? [] : sign === "^" ? [true] : Array.isArray(value) ? value : [value];
      let end = index;
      if (items.length === 0) end = render(index + 1, from, name, place, false);
      for (const item of items)
        end = render(index + 1, from, name, within(place, item, sourcesOf(read(name), place)), true);
      index = end;
      from = tags[end]!.end;
    }
    if (section !== "") throw new ValueError(`Invalid template: {{/${section}}} is missing`);
    segments.literal(template.slice(from));
    return tags.length;
  };
  render(0, 0, "", { frames: [inputs], sources: [], effort }, true);
  return segments.list;
}

interface Place extends Scope {
  /** The inputs of each frame except the last, which is the inputs themselves. */
  readonly sources: readonly (readonly string[])[];
}

/** The scope within a section for one of its items. The item's names are looked up first. */
function within({ frames, sources, effort }: Place, item: unknown, from: readonly string[]): Place {
  const own = isMap(item) ? [{ ".": item }, item] : [{ ".": item }];
  return { frames: [...own, ...frames], sources: [...own.map(() => from), ...sources], effort };
}

/** All inputs that contribute to the value of an expression, also through its section. */
function sourcesOf({ names }: Expression, { frames, sources, effort }: Place): string[] {
  const all = names.flatMap((name) => {
    const at = frames.findIndex((frame) => Object.hasOwn(frame, name));
    return at < 0 || at >= sources.length ? [name] : sources[at]!;
  });
  effort.gather(all);
  return [...new Set(all)];
}

/** Reads each name once, however often its tag is rendered. */
function reader(): (name: string) => Expression {
  const known = new Map<string, Expression>([[".", ITEM]]);
  return (name) => {
    const expression = known.get(name) ?? readExpression(name);
    known.set(name, expression);
    return expression;
  };
}

/** The item of the nearest section. */
const ITEM: Expression = {
  names: ["."],
  value: ({ frames }) => frames.find((frame) => Object.hasOwn(frame, "."))?.["."],
};

interface Tag {
  start: number;
  /** The index after the tag. */
  end: number;
  /** `#`, `^`, `/`, `!`, or nothing for a value. */
  sign: string;
  name: string;
}

/** The tags of a template: `{{name}}`, `{{&name}}` and `{{{name}}}` are the same, because no text is escaped. */
function tagsOf(template: string): Tag[] {
  const tags: Tag[] = [];
  for (let start = template.indexOf("{{"); start >= 0;) {
    const close = template.indexOf("}}", start + 2);
    if (close < 0) return tags;
    const isTriple = template[start + 2] === "{" && template[close + 2] === "}";
    const end = close + (isTriple ? 3 : 2);
    const inner = template.slice(start + (isTriple ? 3 : 2), close);
    const sign = !isTriple && "#^/!&".includes(inner[0] ?? " ") ? inner[0]! : "";
    tags.push({ start, end, sign, name: inner.slice(sign.length).trim() });
    start = template.indexOf("{{", end);
  }
  return tags;
}
