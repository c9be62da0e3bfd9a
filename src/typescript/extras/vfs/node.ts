/** `looplet/vfs/node`: a folder of the disk, in Node, Bun and Deno. */
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import process from "node:process";
import type { Vfs } from "./index.js";
import { flawOfName, resolvePath } from "./paths.js";

/** Flags that not every system has. A pipe opens without a writer at its other end. */
const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;

/** A folder that is held open while something in it is done. */
interface Held {
  /** The path of the folder for calls of the system. */
  readonly at: string;
  close(): Promise<void>;
}

/**
 * The files below the folder `root`, which is `/` for the tools. A path outside of it is refused with an error. No
 * link below `root` is followed, because rules know only the path that the model wrote. The error names the link's
 * target, and lists omit links.
 *
 * On Linux each folder of a path is opened relative to its parent, so that no program can replace it with a link
 * between check and use. Other systems have no such call, so another program can.
 */
export function nodeVfs(root: string): Vfs {
  let real: Promise<string> | undefined;
  const base = (): Promise<string> => (real ??= realpath(root));

  /** The folder with these names below `root`. With `create` the missing ones are made. */
  const enter = async (names: readonly string[], create = false): Promise<Held> => {
    let held = await hold(await base());
    for (const [index, name] of names.entries()) {
      const place = join(held.at, name);
      try {
        if (create) await unless("EEXIST", mkdir(place));
        const next = await hold(place, held);
        await held.close();
        held = next;
      } catch (error) {
        const isLink = await isLinkAt(place);
        await held.close();
        throw isLink ? await linkError(await base(), names.slice(0, index + 1)) : error;
      }
    }
    return held;
  };

  /** Does something at a path that is not a link, in the folder that contains it. */
  const at = async <T>(path: string, act: (place: string) => Promise<T>, create = false): Promise<T> => {
    const names = namesOf(path);
    const name = names.at(-1);
    if (name === undefined) throw new Error("The path / is the folder of all files.");
    const held = await enter(names.slice(0, -1), create);
    try {
      const place = join(held.at, name);
      if (await isLinkAt(place)) throw await linkError(await base(), names);
      return await act(place);
    } catch (error) {
      // A link that was put there since the look.
      throw codeOf(error) === "ELOOP" ? await linkError(await base(), names) : error;
    } finally {
      await held.close();
    }
  };

  return {
    read: async (path) =>
      namesOf(path).length === 0
        ? undefined
        : unlessMissing(at(path, (place) => using(place, O_RDONLY, (file) => file.readFile()))),
    write: (path, data) =>
      at(
        path,
        (place) =>
          using(place, O_WRONLY | O_CREAT, async (file) => {
            await file.truncate(0);
            await file.writeFile(data);
          }),
        true,
      ),
    async list(path) {
      const names = await unlessMissing(
        enter(namesOf(path)).then(async (held) => {
          try {
            return await readdir(held.at, { withFileTypes: true });
          } finally {
            await held.close();
          }
        }),
      );
      return (names ?? [])
        .filter((entry) => entry.isDirectory() || entry.isFile())
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .sort();
    },
    async stat(path) {
      const found = await unlessMissing(
        namesOf(path).length === 0
          ? base().then((folder) => lstat(folder))
          : at(path, (place) => lstat(place)),
      );
      if (found === undefined) return undefined;
      const isDirectory = found.isDirectory();
      return { size: isDirectory ? 0 : found.size, mtimeMs: found.mtimeMs, isDirectory };
    },
    mkdir: async (path) => (await enter(namesOf(path), true)).close(),
    remove: async (path) =>
      void (await unlessMissing(at(path, (place) => rm(place, { recursive: true, force: true })))),
    rename: (from, to) => at(from, (source) => at(to, (target) => rename(source, target), true)),
  };
}

/** The names of a path. @throws Error for one that no file below the root can have */
function namesOf(path: string): string[] {
  const names = resolvePath(path)
    .split("/")
    .slice(1)
    .filter((name) => name !== "");
  for (const name of names) {
    const flaw = flawOfName(name, sep === "\\");
    if (flaw !== undefined) throw new Error(`The path ${JSON.stringify(path)} has a name with ${flaw}.`);
  }
  return names;
}

/** Opens a folder, never through a link in its last name. `above` is the opened parent folder. */
async function hold(folder: string, above?: Held): Promise<Held> {
  const isPlain = above !== undefined && !above.at.startsWith(HANDLES);
  if (process.platform === "linux" && !isPlain) {
    const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const through = `${HANDLES}${handle.fd}`;
    if (await isSame(handle, through)) return { at: through, close: () => handle.close() };
    await handle.close();
  }
  const found = await lstat(folder);
  if (found.isDirectory()) return { at: folder, close: () => Promise.resolve() };
  throw Object.assign(new Error(`${folder} is not a folder.`), { code: "ENOTDIR" });
}

/** The open files of the process, on Linux. */
const HANDLES = "/proc/self/fd/";

/** False where numbers of handles are the runtime's own, or where `/proc` is not there. */
async function isSame(handle: FileHandle, path: string): Promise<boolean> {
  try {
    const [one, other] = await Promise.all([handle.stat(), stat(path)]);
    return one.ino === other.ino && one.dev === other.dev;
  } catch {
    return false;
  }
}

/** Opens a file, and nothing else: no link, pipe or device. */
async function using<T>(place: string, flags: number, act: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(place, flags | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await file.stat();
    if (found.isDirectory()) throw Object.assign(new Error("It is a folder."), { code: "EISDIR" });
    if (!found.isFile()) throw new Error("It is not a file, but a pipe or a device.");
    return await act(file);
  } finally {
    await file.close();
  }
}

async function isLinkAt(place: string): Promise<boolean> {
  const found = await unlessMissing(lstat(place));
  return found?.isSymbolicLink() === true;
}

/** Names the place where a link leads, if the model may know it. */
async function linkError(base: string, names: readonly string[]): Promise<Error> {
  const link = `/${names.join("/")}`;
  const target = await unlessMissing(realpath(join(base, ...names)).catch(() => undefined));
  const top = base.endsWith(sep) ? base : base + sep;
  if (target !== undefined && (target === base || target.startsWith(top))) {
    const inside = target.slice(top.length).split(sep).join("/");
    return new Error(`The path ${link} is a link to /${inside}. Links are not followed: use that path.`);
  }
  return new Error(`The path ${link} is a link that leads out of the files, or to nothing.`);
}

async function unless<T>(code: string, act: Promise<T>): Promise<T | undefined> {
  try {
    return await act;
  } catch (error) {
    if (codeOf(error) === code) return undefined;
    throw error;
  }
}

const MISSING = ["ENOENT", "ENOTDIR", "EISDIR"];

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (MISSING.includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}
