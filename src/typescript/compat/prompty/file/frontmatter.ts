import { isCollection, isScalar, parseDocument, visit } from "yaml";
import { ValueError } from "../errors.js";
import { withoutOuterLines } from "../text.js";

/** The frontmatter of a file as plain values, and the text below it. */
export interface Split {
  head: { [field: string]: unknown };
  instructions: string;
}

/** @throws ValueError `invalid frontmatter: …` */
export function splitFile(text: string): Split {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() !== "");
  const mark = lines[begin]?.trimEnd();
  if (mark !== "---" && mark !== "+++") return { head: {}, instructions: trimmed(lines) };
  const end = lines.findIndex((line, at) => at > begin && line.trimEnd() === mark);
  if (end < 0) throw new ValueError(`invalid frontmatter: no line ${mark} ends it`);
  const head = yaml(lines.slice(begin + 1, end).join("\n"), "invalid frontmatter");
  if (head !== null && !isMap(head)) throw new ValueError("invalid frontmatter: it is not a mapping");
  return { head: head ?? {}, instructions: trimmed(lines.slice(end + 1)) };
}

/** The maximum number of characters of YAML. Put long JSON in a separate file, which `${file:…}` names. */
const MAX_YAML = 100_000;

/** @throws ValueError that begins with `what` */
export function yaml(text: string, what: string): unknown {
  if (text.length > MAX_YAML)
    throw new ValueError(`${what}: it has ${text.length} characters of YAML, more than ${MAX_YAML}`);
  try {
    // The library compares each key with all others, and quotes the source for each error; both take a square.
    const document = parseDocument(text, { logLevel: "error", prettyErrors: false, uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${error.message} in line ${lineOf(text, error.pos[0])}`);
    visit(document, {
      Map(_, { items }) {
        const names = new Set<unknown>();
        for (const { key } of items) {
          // The library writes such a key as YAML, and that again for each key around it.
          if (isCollection(key)) throw new Error("a key is a list or a mapping, and needs to be a text");
          const name = isScalar(key) ? String(key.value) : key;
          if (names.has(name))
            throw new Error(`Map keys must be unique, and "${String(name)}" is there twice`);
          names.add(name);
        }
      },
    });
    return (document.toJS() as unknown) ?? null;
  } catch (error) {
    throw new ValueError(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** What a field of a mapping may be. */
const KINDS = {
  "a text": (value: unknown) => typeof value === "string",
  "true or false": (value: unknown) => typeof value === "boolean",
  "a list": Array.isArray,
  "a mapping": isMap,
};

/**
 * The mapping without its empty fields. `kinds` says what the known ones are; others pass.
 *
 * @throws ValueError for a field of another kind, by its place
 */
export function checkedMap<T extends { [field: string]: unknown }>(
  map: T,
  place: string,
  kinds: { readonly [field: string]: keyof typeof KINDS },
): T {
  const given = Object.entries(map).filter(
    ([field, value]) => value !== null || !Object.hasOwn(kinds, field),
  );
  for (const [field, value] of given) {
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
    if (kind !== undefined && !KINDS[kind](value))
      throw new ValueError(`invalid frontmatter: ${place}.${field} needs ${kind}`);
  }
  return Object.fromEntries(given) as T;
}

export function isMap(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function trimmed(lines: string[]): string {
  return withoutOuterLines(lines.join("\n"));
}
