/** Glob and Grep. The patterns come from a model, and the files may be untrusted, so all work is limited. */
import type { Tool, ToolContext } from "../../core/api/index.js";
import { tool } from "../../core/index.js";
import type { Vfs } from "../vfs/index.js";
import { resolvePath } from "../vfs/paths.js";
import { failed } from "./files.js";
import { globOf } from "./glob.js";
import { Pattern } from "./pattern.js";
import { Walk } from "./walk.js";

/** Files that Glob lists. */
const MOST_FILES = 1000;

/** Files among which Glob finds those that changed last. */
const MOST_FOUND = 20_000;

/** Bytes of a file that Grep searches, and of all files of a call. */
const [MOST_FILE_BYTES, MOST_BYTES] = [8_388_608, 268_435_456];

/** Lines of a result of Grep, characters of one, and of all. */
const [MOST_LINES, LINE_CHARS, MOST_CHARS] = [10_000, 2000, 1_000_000];

/** Endings of files by the names of `type`. */
const TYPES: { readonly [type: string]: RegExp } = {
  js: /\.[cm]?jsx?$/,
  ts: /\.[cm]?tsx?$/,
  py: /\.pyi?$/,
  rust: /\.rs$/,
  go: /\.go$/,
  java: /\.java$/,
  c: /\.[ch]$/,
  cpp: /\.(?:cc|cpp|cxx|hh|hpp|hxx|h)$/,
  css: /\.(?:css|scss)$/,
  html: /\.html?$/,
  json: /\.json$/,
  md: /\.(?:md|markdown)$/,
  yaml: /\.ya?ml$/,
};

export function searchTools(vfs: Vfs, cwd: string): { [name: string]: Tool } {
  return {
    Glob: tool({
      description: 'Lists the files that fit a pattern such as "**/*.ts", those changed last first.',
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          path: { type: "string", description: "The folder to search, the working folder by default" },
        },
        required: ["pattern"],
      },
      readOnly: true,
      execute: async ({ pattern, path = "." }, context) => {
        const walk = new Walk(vfs, context);
        const found: { path: string; mtimeMs: number }[] = [];
        const fits = patternOf(() => globOf(pattern));
        for await (const file of walk.files(resolvePath(path, cwd), fits)) {
          if (found.length === MOST_FOUND) {
            walk.notes.add(`Only the first ${MOST_FOUND} files were looked at.`);
            break;
          }
          found.push({ path: file, mtimeMs: (await vfs.stat(file))?.mtimeMs ?? 0 });
        }
        found.sort((one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? -1 : 1));
        if (found.length > MOST_FILES) walk.notes.add(`${found.length - MOST_FILES} more files fit.`);
        return told(
          found.slice(0, MOST_FILES).map((file) => file.path),
          walk,
          "No file fits.",
        );
      },
    }) as Tool,
    Grep: tool({
      description:
        "Searches the contents of files for a regular expression of JavaScript, without back references and lookaround.",
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          path: {
            type: "string",
            description: "The file or folder to search, the working folder by default",
          },
          glob: { type: "string", description: "Only files that fit this pattern" },
          type: { type: "string", enum: Object.keys(TYPES) },
          output_mode: { type: "string", enum: ["files_with_matches", "content", "count"] },
          "-i": { type: "boolean", description: "Whether case does not matter" },
          "-n": { type: "boolean", description: "Whether content has line numbers, true by default" },
          "-A": { type: "integer", minimum: 0, description: "Lines after each match" },
          "-B": { type: "integer", minimum: 0, description: "Lines before each match" },
          "-C": { type: "integer", minimum: 0, description: "Lines around each match" },
          head_limit: { type: "integer", minimum: 1, description: "The most lines of the result" },
          multiline: { type: "boolean", description: "Whether a match may span lines" },
        },
        required: ["pattern"],
      },
      readOnly: true,
      execute: (input, context) => grep(vfs, cwd, input, context),
    }) as Tool,
  };
}

interface Query {
  readonly pattern: Pattern;
  readonly mode: "files_with_matches" | "content" | "count";
  readonly isNumbered: boolean;
  readonly isMultiline: boolean;
  readonly before: number;
  readonly after: number;
  readonly most: number;
}

type GrepInput = {
  pattern: string;
  path?: string;
  glob?: string;
  type?: string;
  output_mode?: string;
  multiline?: boolean;
  head_limit?: number;
} & {
  [flag in "-i" | "-n"]?: boolean;
} & { [lines in "-A" | "-B" | "-C"]?: number };

async function grep(
  vfs: Vfs,
  cwd: string,
  input: GrepInput,
  context: Pick<ToolContext, "signal" | "mayRead">,
): Promise<string> {
  const query = queryOf(input);
  const { glob = "**", path = ".", type } = input;
  // A pattern of names fits in every folder.
  const files = patternOf(() => globOf(glob.includes("/") ? glob : `**/${glob}`));
  const walk = new Walk(vfs, context);
  const lines: string[] = [];
  let [bytes, chars] = [0, 0];
  for await (const file of walk.files(resolvePath(path, cwd), files)) {
    if (type !== undefined && !TYPES[type]!.test(file)) continue;
    const size = (await vfs.stat(file))?.size ?? 0;
    const data = size > MOST_FILE_BYTES ? undefined : await vfs.read(file);
    if (size > MOST_FILE_BYTES) walk.notes.add(`Files of more than ${MOST_FILE_BYTES} bytes were left out.`);
    // A file with a zero byte is not text.
    if (data === undefined || data.includes(0)) continue;
    if ((bytes += data.length) > MOST_BYTES) {
      walk.notes.add(`The search ended after ${MOST_BYTES} bytes: search in a folder.`);
      break;
    }
    for (const line of await matchesIn(file, new TextDecoder().decode(data), query, walk)) {
      lines.push(line);
      chars += line.length;
    }
    if (lines.length >= query.most || chars > MOST_CHARS) break;
  }
  if (chars > MOST_CHARS || (lines.length >= MOST_LINES && query.most === MOST_LINES))
    walk.notes.add("There may be more lines: search for less.");
  return told(lines.slice(0, query.most), walk, "No match.");
}

/** The lines of a result up to its limit, and a note about what is omitted. */
function told(lines: readonly string[], { notes }: Walk, none: string): string {
  let chars = 0;
  const shown = lines.filter((line) => (chars += line.length + 1) <= MOST_CHARS + LINE_CHARS);
  return [shown.join("\n") || none, ...[...notes].map((note) => `(${note})`)].join("\n");
}

/** @throws ToolError for the model */
function patternOf(make: () => Pattern): Pattern {
  try {
    return make();
  } catch (error) {
    throw failed("invalid_pattern", (error as Error).message);
  }
}

function queryOf(input: GrepInput): Query {
  const around = input["-C"] ?? 0;
  const isMultiline = input.multiline ?? false;
  const options = { ignoreCase: input["-i"], dotAll: isMultiline };
  return {
    pattern: patternOf(() => new Pattern(input.pattern, options)),
    mode: (input.output_mode ?? "files_with_matches") as Query["mode"],
    isNumbered: input["-n"] ?? true,
    isMultiline,
    before: input["-B"] ?? around,
    after: input["-A"] ?? around,
    most: Math.min(input.head_limit ?? MOST_LINES, MOST_LINES),
  };
}

async function matchesIn(file: string, text: string, query: Query, walk: Walk): Promise<string[]> {
  const lines = text.replace(/\n$/, "").split("\n");
  const hits = await hitsIn(text, lines, query, walk);
  if (hits.length === 0) return [];
  if (query.mode === "files_with_matches") return [file];
  if (query.mode === "count") return [`${file}:${hits.length}`];
  const shown: string[] = [];
  let next = 0;
  for (const [index, hit] of hits.entries()) {
    // The lines around this match that no match before it has shown.
    const last = Math.min(hit + query.after, lines.length - 1, (hits[index + 1] ?? Infinity) - 1);
    for (let line = Math.max(hit - query.before, next); line <= Math.max(hit, last); line += 1) {
      const mark = line === hit ? ":" : "-";
      const said = lines[line]!.slice(0, LINE_CHARS) + (lines[line]!.length > LINE_CHARS ? "…" : "");
      shown.push(`${file}${mark}${query.isNumbered ? `${line + 1}${mark}` : ""}${said}`);
      next = line + 1;
    }
    if (shown.length > query.most) break;
  }
  return shown;
}

/** The indexes of the lines with a match, or with a part of one. One is enough if only files are listed. */
async function hitsIn(
  text: string,
  lines: readonly string[],
  { pattern, mode, isMultiline }: Query,
  walk: Walk,
): Promise<number[]> {
  const hits: number[] = [];
  /** A line and its start offset. */
  let [line, start] = [0, 0];
  const endOf = (): number => start + lines[line]!.length;
  let at = 0;
  while (line < lines.length) {
    const to = isMultiline ? text.length : endOf();
    const found = await walk.find(pattern, text, isMultiline ? at : start, to);
    if (isMultiline && found === undefined) return hits;
    const first = found === undefined ? Infinity : found.start;
    // A line ends where the next one begins, and an empty match is part of its line.
    const last = found === undefined ? -1 : Math.max(found.start, found.end - 1);
    while (line < lines.length && (isMultiline ? start <= last : start <= to)) {
      if (endOf() >= first && hits.at(-1) !== line) hits.push(line);
      if (isMultiline && endOf() >= last) break;
      start = endOf() + 1;
      line += 1;
    }
    if (mode === "files_with_matches" && hits.length > 0) return hits;
    if (found !== undefined) at = Math.max(found.end, found.start + 1);
    if (isMultiline && at > text.length) return hits;
  }
  return hits;
}
