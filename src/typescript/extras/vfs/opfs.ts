/** Files in a browser's storage for a page's origin. <https://fs.spec.whatwg.org/> */
import type { Vfs } from "./index.js";
import { readAgain } from "./read-again.js";

/** The parts of a `FileSystemDirectoryHandle` that {@link opfsVfs} uses. */
export interface DirectoryHandleLike {
  getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<DirectoryHandleLike>;
  getFileHandle(name: string, options?: { create?: boolean }): Promise<FileHandleLike>;
  removeEntry(name: string, options?: { recursive?: boolean }): Promise<void>;
  entries(): AsyncIterable<readonly [string, { readonly kind: "file" | "directory" }]>;
}

export interface FileHandleLike {
  getFile(): Promise<{
    readonly size: number;
    readonly lastModified: number;
    arrayBuffer(): Promise<ArrayBuffer>;
  }>;
  createWritable(): Promise<{ write(data: Uint8Array): Promise<void>; close(): Promise<void> }>;
}

/**
 * The origin private file system, or the folder of a handle, for example of `showDirectoryPicker()`. Other tabs of
 * the origin see the same files.
 */
export function opfsVfs(root?: DirectoryHandleLike): Vfs {
  const top = async (): Promise<DirectoryHandleLike> =>
    root ??
    (
      globalThis as unknown as {
        navigator: { storage: { getDirectory(): Promise<DirectoryHandleLike> } };
      }
    ).navigator.storage.getDirectory();
  const folderOf = async (names: readonly string[], create = false): Promise<DirectoryHandleLike> => {
    let folder = await top();
    for (const name of names) folder = await folder.getDirectoryHandle(name, { create });
    return folder;
  };
  const placeOf = (path: string): [readonly string[], string] => {
    const names = partsOf(path);
    return [names.slice(0, -1), names.at(-1) ?? ""];
  };
  const fileOf = async (path: string): ReturnType<FileHandleLike["getFile"]> => {
    const [folder, name] = placeOf(path);
    return (await (await folderOf(folder)).getFileHandle(name)).getFile();
  };
  const vfs: Vfs = {
    read: (path) =>
      path === "/"
        ? Promise.resolve(undefined)
        : unlessMissing(() =>
            readAgain(async () => new Uint8Array(await (await fileOf(path)).arrayBuffer())),
          ),
    async write(path, data) {
      const [folder, name] = placeOf(path);
      const file = await (await folderOf(folder, true)).getFileHandle(name, { create: true });
      const stream = await file.createWritable();
      await stream.write(data);
      await stream.close();
    },
    async list(path) {
      const names: string[] = [];
      await unlessMissing(async () => {
        for await (const [name, { kind }] of (await folderOf(partsOf(path))).entries())
          names.push(kind === "directory" ? `${name}/` : name);
      });
      return names.sort();
    },
    async stat(path) {
      const file = path === "/" ? undefined : await unlessMissing(() => fileOf(path));
      if (file !== undefined) return { size: file.size, mtimeMs: file.lastModified, isDirectory: false };
      const folder = await unlessMissing(() => folderOf(partsOf(path)));
      return folder && { size: 0, mtimeMs: 0, isDirectory: true };
    },
    mkdir: async (path) => void (await folderOf(partsOf(path), true)),
    async remove(path) {
      const [folder, name] = placeOf(path);
      await unlessMissing(async () => (await folderOf(folder)).removeEntry(name, { recursive: true }));
    },
    // Handles can be moved in some browsers only, so that the files are copied.
    async rename(from, to) {
      const data = await vfs.read(from);
      if (data !== undefined) await vfs.write(to, data);
      else {
        await vfs.mkdir(to);
        for (const name of await vfs.list(from))
          await vfs.rename(`${from}/${name.replace(/\/$/, "")}`, `${to}/${name.replace(/\/$/, "")}`);
      }
      await vfs.remove(from);
    },
  };
  return vfs;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

/** The names of the errors for a file that is not there, or is of the other kind. */
const MISSING = ["NotFoundError", "TypeMismatchError"];

async function unlessMissing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (MISSING.includes((error as Error)?.name)) return undefined;
    throw error;
  }
}
