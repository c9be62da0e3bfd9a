/**
 * Links in the paths of commands that only move files, which the mode `acceptEdits` accepts. The rules see the path
 * in the command. These functions check whether it leads there.
 */
import type { Vfs } from "../vfs/index.js";
import { resolvePath } from "../vfs/paths.js";
import { failed } from "./files.js";

/** The commands that `acceptEdits` accepts: FILE_COMMANDS of the engine's `command.rs`. */
const FILE_COMMANDS = ["mkdir", "touch", "rm", "rmdir", "mv", "cp"];

/** Options of cp that follow links, or that name the destination: what the command touches is not looked for. */
const FOLLOWING = /^-(?:[a-zA-Z]*[LHt]|-(?:dereference|target))/;

/** Files of a copied folder that are compared with its destination. */
const MOST_FILES = 1000;

/** Calls between their judgement and their start. */
const MOST_CALLS = 1000;

/** True for a single plain command that only moves files. */
export function isFileCommand(command: string): boolean {
  return /^[\w ./:@%+,=-]*$/.test(command) && FILE_COMMANDS.includes(command.trim().split(/ +/)[0] ?? "");
}

/** Finds the links of commands in `vfs`. A {@link Vfs} refuses a path with a link, or has no links. */
export function linksOf(
  vfs: Vfs,
  cwd: string,
): {
  /** True when the command leads elsewhere. */
  judge(command: string, toolCallId: string): Promise<boolean>;
  /** @throws ToolError when the command leads elsewhere since it was judged */
  check(command: string, toolCallId: string): Promise<void>;
} {
  const plain = new Map<string, string>();
  return {
    async judge(command, toolCallId) {
      plain.delete(toolCallId);
      const leads = (await linkIn(command, vfs, cwd)) !== undefined;
      if (leads || !isFileCommand(command)) return leads;
      plain.set(toolCallId, command);
      for (const [first] of plain) if (plain.size > MOST_CALLS) plain.delete(first);
      return false;
    },
    async check(command, toolCallId) {
      const judged = plain.get(toolCallId);
      plain.delete(toolCallId);
      if (judged !== command) return;
      const link = await linkIn(command, vfs, cwd);
      if (link !== undefined)
        throw failed("link", `${link} leads through a link since the command was judged. Call it again.`);
    },
  };
}

/** The path of the command that leads through a link. */
async function linkIn(command: string, vfs: Vfs, cwd: string): Promise<string | undefined> {
  if (!isFileCommand(command)) return undefined;
  const [name, ...words] = command.trim().split(/ +/);
  const options = words.filter((word) => word.startsWith("-"));
  const paths = words.filter((word) => !word.startsWith("-"));
  const [destination = "."] = paths.slice(-1);
  for (const path of paths) if ((await kindOf(path, vfs, cwd)) === "link") return path;
  if (name !== "cp" && name !== "mv") return undefined;
  const following = options.find((option) => FOLLOWING.test(option));
  if (following !== undefined) return following;
  // The file that is written is in the destination, if that is a folder.
  if ((await kindOf(destination, vfs, cwd)) !== "folder") return undefined;
  let left = MOST_FILES;
  const linkBelow = async (source: string, target: string): Promise<string | undefined> => {
    left -= 1;
    const kind = await kindOf(target, vfs, cwd);
    if (kind === "link" || left < 0) return target;
    if (kind !== "folder" || (await kindOf(source, vfs, cwd)) !== "folder") return undefined;
    for (const entry of await vfs.list(resolvePath(source, cwd))) {
      const child = entry.replace(/\/$/, "");
      const link = await linkBelow(`${source}/${child}`, `${target}/${child}`);
      if (link !== undefined) return link;
    }
    return undefined;
  };
  for (const source of paths.slice(0, -1)) {
    const last = resolvePath(source, cwd).split("/").at(-1) ?? "";
    const link = await linkBelow(source, `${destination}/${last}`);
    if (link !== undefined) return link;
  }
  return undefined;
}

/** What is at a path. A path that cannot be read counts as a link. */
async function kindOf(path: string, vfs: Vfs, cwd: string): Promise<"link" | "folder" | "file" | undefined> {
  try {
    const found = await vfs.stat(resolvePath(path, cwd));
    return found && (found.isDirectory ? "folder" : "file");
  } catch {
    return "link";
  }
}
