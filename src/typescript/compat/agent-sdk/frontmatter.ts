/**
 * Files that begin with fields between lines of `---`, as skills and agents do. They have texts and lists of names
 * only: the package `yaml` would add 27 kB of brotli to `looplet/agent-sdk`, which has no dependency.
 */

export interface Frontmatter {
  /** A text field: plain, quoted, or with further lines that are indented; `""` if it is not there. */
  field(name: string): string;
  readonly body: string;
}

/** The fields and the body of a file. A file without a line `---` has no fields. A field is a text or a list. */
export function frontmatterOf(text: string): Frontmatter {
  const [, head = "", body = text] =
    /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text) ?? [];
  return { field: (name) => field(head, name), body: body.trim() };
}

/** Characters of a name and of a description, which go with every request. */
const [NAME_CHARS, DESCRIPTION_CHARS] = [64, 8192];

/** Whether the name and the description are present and within the length limits. */
export function isShort(name: string | undefined, description: string | undefined): boolean {
  const fits = (text = "", most = 0): boolean => text !== "" && text.length <= most;
  return fits(name, NAME_CHARS) && fits(description, DESCRIPTION_CHARS) && name !== "__proto__";
}

function field(head: string, name: string): string {
  const found = new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t]+.*)*)`, "m").exec(head)?.[1] ?? "";
  const joined = found
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line, at) => at > 0 || !/^[|>][+-]?$/.test(line))
    .join(" ")
    .trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec(joined);
  if (quoted === null) return joined;
  return quoted[1] === '"' ? quoted[2]!.replace(/\\(["\\])/g, "$1") : quoted[2]!.replaceAll("''", "'");
}

/** The note about a file that is not a skill or an agent. */
export function unnamed(path: string, what: string): string {
  return `${path} has no name and description between lines of ---, or longer ones than ${NAME_CHARS} and ${DESCRIPTION_CHARS} characters, so it is not a valid ${what}.`;
}

/** The names of a list: `A, B`, `[A, B]`, or a line each that begins with `-`. */
export function namesOf(list: string): string[] {
  return list
    .replace(/^\[|\]$/g, "")
    .split(/,|(?:^| )- /)
    .map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((name) => name !== "");
}
