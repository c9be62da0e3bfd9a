/**
 * The commands of Anthropic's tool `memory`, over your files. The texts are those of its documentation:
 * <https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool> (2026-11-28).
 */
import { ToolError } from "../../core/api/errors.js";
import type { Vfs } from "../vfs/index.js";
import { isBelow, resolvePath } from "../vfs/paths.js";

export interface MemoryOptions {
  /** The folder of `vfs` that is the model's `/memories`. Default `"/memories"`. */
  readonly folder?: string;
}

const ROOT = "/memories";
const LEVELS = 2;

interface Command {
  readonly command: string;
  readonly path?: string;
  readonly view_range?: readonly [from: number, to: number];
  readonly file_text?: string;
  readonly old_str?: string;
  readonly new_str?: string;
  readonly insert_line?: number;
  readonly insert_text?: string;
  readonly old_path?: string;
  readonly new_path?: string;
}

/** Runs a command and returns the text for the model. An error is thrown as a `ToolError`. */
export async function memoryCommand(vfs: Vfs, input: Command, options: MemoryOptions): Promise<string> {
  const memory = new Memory(vfs, resolvePath(options.folder ?? ROOT));
  const { path = "", file_text = "", old_str = "", new_str = "", insert_text = "" } = input;
  switch (input.command) {
    case "view":
      return memory.view(path, input.view_range);
    case "create":
      return memory.create(path, file_text);
    case "str_replace":
      return memory.replace(path, old_str, new_str);
    case "insert":
      return memory.insert(path, input.insert_line ?? 0, insert_text);
    case "delete":
      return memory.delete(path);
    case "rename":
      return memory.rename(input.old_path ?? "", input.new_path ?? "");
    default:
      throw failed(`There is no command ${input.command}`);
  }
}

class Memory {
  constructor(
    readonly vfs: Vfs,
    readonly folder: string,
  ) {}

  async view(path: string, range: Command["view_range"]): Promise<string> {
    const place = this.#place(path);
    const stat = await this.vfs.stat(place);
    // The folder exists before its first file.
    if (stat === undefined && place !== this.folder) throw missing(path);
    if (stat?.isDirectory ?? true) {
      const lines = await this.#listed(place, path.replace(/\/$/, ""), LEVELS);
      return [
        `Here're the files and directories up to ${LEVELS} levels deep in ${path}, excluding hidden items and node_modules:`,
        ...lines,
      ].join("\n");
    }
    const lines = (await this.#text(path)).split("\n");
    const [from, to] = range ?? [1, -1];
    const shown = lines.slice(Math.max(from - 1, 0), to === -1 ? undefined : to);
    return `Here's the content of ${path} with line numbers:\n${numbered(shown, Math.max(from, 1))}`;
  }

  async create(path: string, text: string): Promise<string> {
    const place = this.#file(path);
    if ((await this.vfs.stat(place)) !== undefined) throw failed(`File ${path} already exists`);
    await this.#write(place, text);
    return `File created successfully at: ${path}`;
  }

  async replace(path: string, before: string, after: string): Promise<string> {
    const text = await this.#text(path);
    const parts = text.split(before);
    if (before === "" || parts.length === 1)
      throw failed(`No replacement was performed, old_str \`${before}\` did not appear verbatim in ${path}.`);
    const starts = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join(before));
    const lines = starts.map((start) => start.split("\n").length);
    if (lines.length > 1)
      throw failed(
        `No replacement was performed. Multiple occurrences of old_str \`${before}\` in lines: ${lines.join(", ")}. Please ensure it is unique`,
      );
    const changed = parts.join(after);
    await this.#write(this.#place(path), changed);
    const from = Math.max(lines[0]! - 4, 0);
    const shown = changed.split("\n").slice(from, lines[0]! + after.split("\n").length + 3);
    return `The memory file has been edited.\n${numbered(shown, from + 1)}`;
  }

  async insert(path: string, at: number, text: string): Promise<string> {
    const lines = (await this.#text(path)).split("\n");
    if (at < 0 || at > lines.length)
      throw failed(
        `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`,
      );
    lines.splice(at, 0, ...text.replace(/\n$/, "").split("\n"));
    await this.#write(this.#place(path), lines.join("\n"));
    return `The file ${path} has been edited.`;
  }

  async delete(path: string): Promise<string> {
    const place = this.#file(path);
    if ((await this.vfs.stat(place)) === undefined) throw failed(`The path ${path} does not exist`);
    await this.vfs.remove(place);
    return `Successfully deleted ${path}`;
  }

  async rename(from: string, to: string): Promise<string> {
    const [old, other] = [this.#file(from), this.#file(to)];
    if ((await this.vfs.stat(old)) === undefined) throw failed(`The path ${from} does not exist`);
    if ((await this.vfs.stat(other)) !== undefined) throw failed(`The destination ${to} already exists`);
    await this.vfs.rename(old, other);
    return `Successfully renamed ${from} to ${to}`;
  }

  /** The place in the files of a path of the model. */
  #place(path: string): string {
    const inside =
      path === ROOT || path.startsWith(`${ROOT}/`) ? resolvePath(`/${path.slice(ROOT.length)}`) : undefined;
    const place = inside === undefined ? undefined : resolvePath(`${this.folder}${inside}`);
    if (place === undefined || !isBelow(place, this.folder))
      throw failed(`The path ${path} does not lie below ${ROOT}`);
    return place;
  }

  /** As `#place`, of anything but the folder itself. */
  #file(path: string): string {
    const place = this.#place(path);
    if (place === this.folder) throw failed(`The path ${path} is the folder of all memories`);
    return place;
  }

  async #text(path: string): Promise<string> {
    const bytes = await this.vfs.read(this.#place(path));
    if (bytes === undefined) throw missing(path);
    return new TextDecoder().decode(bytes);
  }

  #write(place: string, text: string): Promise<void> {
    return this.vfs.write(place, new TextEncoder().encode(text));
  }

  /** A line for each thing in a folder: its size and its path. */
  async #listed(place: string, shown: string, levels: number): Promise<string[]> {
    const stat = await this.vfs.stat(place);
    const lines = [`${sizeOf(stat?.size ?? 0)}\t${shown}`];
    if (levels === 0 || !(stat?.isDirectory ?? true)) return lines;
    for (const entry of await this.vfs.list(place)) {
      const name = entry.replace(/\/$/, "");
      if (name.startsWith(".") || name === "node_modules") continue;
      lines.push(...(await this.#listed(`${place}/${name}`, `${shown}/${name}`, levels - 1)));
    }
    return lines;
  }
}

function numbered(lines: readonly string[], from: number): string {
  return lines.map((line, at) => `${String(from + at).padStart(6)}\t${line}`).join("\n");
}

function sizeOf(bytes: number): string {
  const kilo = bytes / 1024;
  return kilo < 1024 ? `${kilo.toFixed(1)}K` : `${(kilo / 1024).toFixed(1)}M`;
}

function missing(path: string): ToolError {
  return failed(`The path ${path} does not exist. Please provide a valid path.`);
}

function failed(message: string): ToolError {
  return new ToolError({ code: "memory", message, hint: "", recoverable: true });
}
