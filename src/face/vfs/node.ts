/** `looplet/vfs/node`: a folder of the disk, in Node, Bun and Deno. */
import { mkdir, readFile, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Vfs } from "./index.js";
import { resolvePath } from "./paths.js";

/**
 * The files below the folder `root`, which is `/` for the tools. A path that leads out of it, also by a link, is refused with
 * an error.
 */
export function nodeVfs(root: string): Vfs {
  let real: Promise<string> | undefined;
  /** The file of the disk, behind all links of the folders that there are. */
  const fileOf = async (path: string): Promise<string> => {
    const base = await (real ??= realpath(root));
    const file = join(base, resolvePath(path));
    const target = await existing(file);
    if (target !== base && !target.startsWith(base.endsWith(sep) ? base : base + sep))
      throw new Error(`The path ${path} leads out of the files.`);
    return file;
  };
  return {
    read: async (path) => unlessMissing(fileOf(path).then((file) => readFile(file))),
    async write(path, data) {
      const file = await fileOf(path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, data);
    },
    async list(path) {
      const entries = await unlessMissing(
        fileOf(path).then((file) => readdir(file, { withFileTypes: true })),
      );
      return (entries ?? []).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    },
    async stat(path) {
      const found = await unlessMissing(fileOf(path).then((file) => stat(file)));
      if (found === undefined) return undefined;
      const isDirectory = found.isDirectory();
      return { size: isDirectory ? 0 : found.size, mtimeMs: found.mtimeMs, isDirectory };
    },
    mkdir: async (path) => void (await mkdir(await fileOf(path), { recursive: true })),
    remove: async (path) => rm(await fileOf(path), { recursive: true, force: true }),
    async rename(from, to) {
      const target = await fileOf(to);
      await mkdir(dirname(target), { recursive: true });
      await rename(await fileOf(from), target);
    },
  };
}

/** The real path of a file, or of the next folder above it that there is. */
async function existing(file: string): Promise<string> {
  const found = await unlessMissing(realpath(file));
  return found ?? (dirname(file) === file ? file : existing(dirname(file)));
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
}
