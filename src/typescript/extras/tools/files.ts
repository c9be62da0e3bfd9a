/** Read, Write and Edit. */
import { ToolError } from "../../core/api/errors.js";
import type { Tool } from "../../core/api/index.js";
import { fallbackOf, fittingBehind } from "../../core/kit/http.js";
import { tool } from "../../core/index.js";
import type { Vfs } from "../vfs/index.js";
import { isBelow, resolvePath } from "../vfs/paths.js";

/** Lines that Read returns, and characters of one line. */
const LINES = 2000;
const LINE_CHARS = 2000;

/** Bytes of a text that Read and Edit take, and characters of one that Edit makes; bytes of a file that is shown. */
const [MOST_BYTES, MOST_MEDIA_BYTES] = [8_388_608, 33_554_432];

/** Places of a file that one Edit changes. */
const MOST_PLACES = 100_000;

/** Characters of a result of Read. */
const MOST_CHARS = 1_000_000;

/** Files that a model is shown as they are. */
const MEDIA = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

/** Files below `folders` may be written. */
export function fileTools(vfs: Vfs, cwd: string, folders: readonly string[]): { [name: string]: Tool } {
  const text = async (path: string): Promise<string> => new TextDecoder().decode(await bytesOf(vfs, path));
  const write = async (path: string, content: string): Promise<void> => {
    if (!folders.some((folder) => isBelow(path, folder)))
      throw failed("outside", `${path} is not below ${folders.join(" or ")}.`);
    await vfs.write(path, new TextEncoder().encode(content));
  };
  return {
    Read: tool({
      description:
        "Reads a file. Lines come with their numbers. A long file comes in parts: offset is the first line, limit the number of lines. Images and PDF files are shown.",
      inputSchema: {
        type: "object",
        properties: {
          file_path: { type: "string", description: "The path of the file" },
          offset: { type: "integer", minimum: 1, description: "The first line, from 1" },
          limit: { type: "integer", minimum: 1, description: `The number of lines, ${LINES} by default` },
        },
        required: ["file_path"],
      },
      readOnly: true,
      execute: async ({ file_path, offset = 1, limit = LINES }) => {
        const path = resolvePath(file_path, cwd);
        if (MEDIA.test(path)) return bytesOf(vfs, path);
        const whole = await text(path);
        if (whole === "") return "The file is empty.";
        const lines = whole.replace(/\n$/, "").split("\n");
        if (offset > lines.length) throw failed("no_such_line", `${file_path} has ${lines.length} lines.`);
        let chars = 0;
        const shown = lines
          .slice(offset - 1, offset - 1 + limit)
          .map((line, at) => numbered(offset + at, line))
          .filter((line) => (chars += line.length) <= MOST_CHARS);
        const left = lines.length - (offset - 1 + shown.length);
        return (
          shown.join("\n") +
          (left > 0 ? `\n(${left} more lines: read on with offset ${lines.length - left + 1})` : "")
        );
      },
    }) as Tool,
    Write: tool({
      description: "Creates a file with this content, or replaces it. Folders are made.",
      inputSchema: {
        type: "object",
        properties: { file_path: { type: "string" }, content: { type: "string" } },
        required: ["file_path", "content"],
      },
      resourceKey: ({ file_path }) => file_path,
      execute: async ({ file_path, content }) => {
        await write(resolvePath(file_path, cwd), content);
        return `Wrote ${file_path}.`;
      },
    }) as Tool,
    Edit: tool({
      description:
        "Replaces old_string in a file by new_string. old_string must be in the file exactly once, or give replace_all.",
      inputSchema: {
        type: "object",
        properties: {
          file_path: { type: "string" },
          old_string: { type: "string" },
          new_string: { type: "string" },
          replace_all: { type: "boolean", description: "Whether to replace it everywhere, false by default" },
        },
        required: ["file_path", "old_string", "new_string"],
      },
      resourceKey: ({ file_path }) => file_path,
      execute: async ({ file_path, old_string, new_string, replace_all = false }) => {
        const path = resolvePath(file_path, cwd);
        if (old_string === "") throw failed("empty_text", "old_string is empty. Write makes a new file.");
        const before = await text(path);
        const places = placesOf(before, old_string);
        const count = places.length;
        if (count === 0)
          throw failed("not_found", `old_string is not in ${file_path}. Read the file and copy it exactly.`);
        if (count > 1 && !replace_all)
          throw failed(
            "not_unique",
            `old_string is ${count} times in ${file_path}. Give more of the text around it, or replace_all.`,
          );
        const chars = before.length + count * (new_string.length - old_string.length);
        if (count > MOST_PLACES || chars > MOST_BYTES)
          throw failed("too_large", `${file_path} would get ${chars} characters, with ${count} changes.`);
        const kept = [0, ...places.map((place) => place + old_string.length)].map((from, at) =>
          before.slice(from, places[at]),
        );
        await write(path, kept.join(new_string));
        return `Edited ${file_path}: ${count} ${count === 1 ? "place" : "places"}.`;
      },
    }) as Tool,
  };
}

/**
 * The places of a text in another one, without overlaps; at most one more than may be changed. A model may have
 * written both, and the platform's own search takes quadratic time for some.
 */
function placesOf(text: string, part: string): number[] {
  const fallback = fallbackOf(part);
  const places: number[] = [];
  let fitting = 0;
  for (let at = 0; at < text.length && places.length <= MOST_PLACES; at += 1) {
    fitting = fittingBehind(part, fallback, fitting, text.charCodeAt(at));
    if (fitting < part.length) continue;
    places.push(at + 1 - fitting);
    fitting = 0;
  }
  return places;
}

async function bytesOf(vfs: Vfs, path: string): Promise<Uint8Array> {
  const found = await vfs.stat(path);
  if (found !== undefined && found.size > (MEDIA.test(path) ? MOST_MEDIA_BYTES : MOST_BYTES))
    throw failed("too_large", `${path} has ${found.size} bytes. Search in it with Grep, or split it.`);
  const bytes = await vfs.read(path);
  if (bytes !== undefined) return bytes;
  const folder = found?.isDirectory === true;
  throw failed(
    "file_not_found",
    folder ? `${path} is a folder. Glob lists files.` : `There is no file ${path}.`,
  );
}

function numbered(number: number, line: string): string {
  const shown = line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line;
  return `${String(number).padStart(6)}\t${shown}`;
}

/** An error that tells the model what to do. */
export function failed(code: string, message: string): ToolError {
  return new ToolError({ code, message, recoverable: true });
}
