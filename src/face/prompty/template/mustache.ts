/** Mustache: `{{a.b}}`, sections, inverted sections and comments. No text is escaped, and there are no partials. */
import { ValueError } from "../errors.js";
import { readExpression, type Scope } from "./expression.js";
import { isMap } from "../file/frontmatter.js";
import { Segments, type Segment } from "./segments.js";
import type { Inputs } from "../types.js";
import { isTruthy, printed } from "./values.js";

/** @throws ValueError for a section that does not end */
export function renderMustache(template: string, inputs: Inputs, strict: Iterable<string> = []): Segment[] {
  const segments = new Segments(strict);
  const tags = [...template.matchAll(/\{\{\{\s*([^}]*?)\s*\}\}\}|\{\{([#^/!&]?)\s*([\s\S]*?)\s*\}\}/g)];
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
    for (let index = at; index < tags.length; index++) {
      const tag = tags[index]!;
      const [whole, raw, sign, text] = tag;
      const name = raw ?? text!;
      if (shows) segments.literal(template.slice(from, tag.index));
      from = tag.index + whole.length;
      if (sign === "/") {
        if (name !== section) throw new ValueError(`Invalid template: {{/${name}}} ends no section`);
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
        end = render(index + 1, from, name, [frame, ...scope], root, true);
      }
      index = end;
      from = tags[end]!.index + tags[end]![0].length;
    }
    if (section !== "") throw new ValueError(`Invalid template: {{/${section}}} is missing`);
    segments.literal(template.slice(from));
    return tags.length;
  };
  render(0, 0, "", [inputs], [], true);
  return segments.list;
}

function lookUp(name: string, scope: Scope): unknown {
  if (name === ".") return scope.find((frame) => Object.hasOwn(frame, "."))?.["."];
  return readExpression(name).value(scope);
}
