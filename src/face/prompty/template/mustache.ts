/** Mustache: `{{a.b}}`, sections, inverted sections and comments. No text is escaped, and there are no partials. */
import { ValueError } from "../errors.js";
import { checkDepth } from "./effort.js";
import { readExpression, type Scope } from "./expression.js";
import { isMap } from "../file/frontmatter.js";
import { Segments, type Segment } from "./segments.js";
import type { Inputs } from "../types.js";
import { isTruthy, printed } from "./values.js";

/** @throws ValueError for a section that does not end */
export function renderMustache(template: string, inputs: Inputs, strict: Iterable<string> = []): Segment[] {
  const segments = new Segments(strict);
  const tags = tagsOf(template);
  let depth = 0;
  /** Renders from tag `at` up to the end of `section`; returns the tag behind it. */
  const render = (
    at: number,
    start: number,
    section: string,
    scope: Scope,
    source: string[],
    shows: boolean,
  ): number => {
    let from = start;
    checkDepth(++depth);
    for (let index = at; index < tags.length; index++) {
      const { start: tagStart, end: tagEnd, sign, name } = tags[index]!;
      segments.effort.take();
      if (shows) segments.literal(template.slice(from, tagStart));
      from = tagEnd;
      if (sign === "/") {
        if (name !== section) throw new ValueError(`Invalid template: {{/${name}}} ends no section`);
        depth--;
        return index;
      }
      if (sign === "!") continue;
      if (sign !== "#" && sign !== "^") {
        const root = name === "." ? source : [name.split(".")[0]!];
        if (shows) segments.interp(printed(lookUp(name, scope)), root);
        continue;
      }
      const value = shows ? lookUp(name, scope) : undefined;
      const items =
        sign === "^"
          ? isTruthy(value)
            ? []
            : [true]
          : !isTruthy(value)
            ? []
            : Array.isArray(value)
              ? value
              : [value];
      let end = index;
      const root = [name.split(".")[0]!];
      if (!shows || items.length === 0) end = render(index + 1, from, name, scope, source, false);
      for (const item of shows ? (items as unknown[]) : []) {
        const frame = { ...(isMap(item) ? item : {}), ".": item };
        const inner = { ...scope, frames: [frame, ...scope.frames] };
        end = render(index + 1, from, name, inner, root, true);
      }
      index = end;
      from = tags[end]!.end;
    }
    if (section !== "") throw new ValueError(`Invalid template: {{/${section}}} is missing`);
    segments.literal(template.slice(from));
    return tags.length;
  };
  render(0, 0, "", { frames: [inputs], effort: segments.effort }, [], true);
  return segments.list;
}

interface Tag {
  start: number;
  /** Behind the tag. */
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

function lookUp(name: string, scope: Scope): unknown {
  if (name === ".") return scope.frames.find((frame) => Object.hasOwn(frame, "."))?.["."];
  return readExpression(name).value(scope);
}
