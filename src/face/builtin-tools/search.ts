/** Glob and Grep. */
import type { Tool } from "../api/index.js";
import { tool } from "../tools/tool.js";
import type { Vfs } from "../vfs/index.js";
import { resolvePath } from "../vfs/paths.js";
import { failed } from "./files.js";
import { globOf } from "./glob.js";

/** Folders that no search enters unless it begins there. */
const SKIPPED = [".git/", "node_modules/"];

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
      execute: async ({ pattern, path = "." }) => {
        const found: { path: string; mtimeMs: number }[] = [];
        for await (const file of filesBelow(vfs, resolvePath(path, cwd), globOf(pattern)))
          found.push({ path: file, mtimeMs: (await vfs.stat(file))?.mtimeMs ?? 0 });
        found.sort((one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? -1 : 1));
        return found.map((file) => file.path).join("\n") || "No file fits.";
      },
    }) as Tool,
    Grep: tool({
      description: "Searches the contents of files for a regular expression of JavaScript.",
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
      execute: async (input) => {
        const query = queryOf(input);
        const { glob = "**", path = ".", type } = input;
        // A pattern of names fits in every folder.
        const files = globOf(glob.includes("/") ? glob : `**/${glob}`);
        const lines: string[] = [];
        for await (const file of filesBelow(vfs, resolvePath(path, cwd), files)) {
          if (type !== undefined && !TYPES[type]!.test(file)) continue;
          const bytes = await vfs.read(file);
          // A file with a zero byte is no text.
          if (bytes === undefined || bytes.includes(0)) continue;
          lines.push(...matchesIn(file, new TextDecoder().decode(bytes), query));
          if (lines.length >= query.most) break;
        }
        return lines.slice(0, query.most).join("\n") || "No match.";
      },
    }) as Tool,
  };
}

interface Query {
  readonly pattern: RegExp;
  readonly mode: "files_with_matches" | "content" | "count";
  readonly isNumbered: boolean;
  readonly before: number;
  readonly after: number;
  readonly most: number;
}

type GrepInput = { pattern: string; output_mode?: string; multiline?: boolean; head_limit?: number } & {
  [flag in "-i" | "-n"]?: boolean;
} & { [lines in "-A" | "-B" | "-C"]?: number };

function queryOf(input: GrepInput): Query {
  const around = input["-C"] ?? 0;
  const flags = `g${input["-i"] ? "i" : ""}${input.multiline ? "s" : ""}m`;
  try {
    return {
      pattern: new RegExp(input.pattern, flags),
      mode: (input.output_mode ?? "files_with_matches") as Query["mode"],
      isNumbered: input["-n"] ?? true,
      before: input["-B"] ?? around,
      after: input["-A"] ?? around,
      most: input.head_limit ?? Infinity,
    };
  } catch (error) {
    throw failed("invalid_pattern", (error as Error).message);
  }
}

function matchesIn(file: string, text: string, query: Query): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const starts: number[] = [];
  lines.reduce((at, line) => (starts.push(at), at + line.length + 1), 0);
  const lineOf = (at: number): number => {
    const next = starts.findIndex((start) => start > at);
    return (next < 0 ? starts.length : next) - 1;
  };
  const hits = new Set<number>();
  for (const match of text.matchAll(query.pattern)) {
    const last = lineOf(match.index + Math.max(match[0].length - 1, 0));
    for (let line = lineOf(match.index); line <= last; line++) hits.add(line);
  }
  if (hits.size === 0) return [];
  if (query.mode === "files_with_matches") return [file];
  if (query.mode === "count") return [`${file}:${hits.size}`];
  const shown = new Set<number>();
  for (const hit of hits)
    for (let line = hit - query.before; line <= hit + query.after; line++)
      if (line >= 0 && line < lines.length) shown.add(line);
  return [...shown]
    .sort((one, other) => one - other)
    .map((line) => {
      const mark = hits.has(line) ? ":" : "-";
      return `${file}${mark}${query.isNumbered ? `${line + 1}${mark}` : ""}${lines[line]}`;
    });
}

/** The files below a folder whose path in it fits, or the file itself. */
async function* filesBelow(vfs: Vfs, from: string, pattern: RegExp): AsyncGenerator<string> {
  const found = await vfs.stat(from);
  if (found === undefined) throw failed("file_not_found", `There is no folder ${from}.`);
  if (!found.isDirectory) return yield from;
  const base = from === "/" ? "/" : `${from}/`;
  const folders = [base];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const name of await vfs.list(folder === "/" ? "/" : folder.slice(0, -1))) {
      const path = folder + name;
      if (!name.endsWith("/")) {
        if (pattern.test(path.slice(base.length))) yield path;
      } else if (!SKIPPED.includes(name)) folders.push(path);
    }
}
