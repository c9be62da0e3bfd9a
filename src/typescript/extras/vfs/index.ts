/** `looplet/vfs`: files for the tools of `looplet/tools`, in any storage. */
import { namesBelow } from "./paths.js";

export { kvVfs, r2Vfs, type KvNamespaceLike, type R2BucketLike } from "./objects.js";
export { opfsVfs, type DirectoryHandleLike, type FileHandleLike } from "./opfs.js";
export { resolvePath } from "./paths.js";

/** Files by absolute paths with `/`, for example `/src/a.ts`. */
export interface Vfs {
  /** The bytes of a file, or `undefined`. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Creates or replaces a file, and makes its folders. */
  write(path: string, data: Uint8Array): Promise<void>;
  /** The names in a folder. Names of folders end with `/`. Empty for a folder that does not exist. */
  list(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<VfsStat | undefined>;
  mkdir(path: string): Promise<void>;
  /** Removes a file, or a folder with its contents. Does nothing if the path does not exist. */
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export interface VfsStat {
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** The time of the last change, in milliseconds since the Unix epoch. */
  readonly mtimeMs: number;
  readonly isDirectory: boolean;
}

/**
 * Files in memory. `files` are texts or bytes by path. `now` is the clock for modification times.
 *
 * @example
 * ```ts
 * import { memoryVfs } from "looplet/vfs";
 *
 * const files = memoryVfs({ "/notes.md": "Buy milk" });
 * console.log(new TextDecoder().decode(await files.read("/notes.md"))); // prints "Buy milk"
 * ```
 */
export function memoryVfs(
  files: { readonly [path: string]: string | Uint8Array } = {},
  now: () => number = Date.now,
): Vfs {
  const kept = new Map<string, { data: Uint8Array; mtimeMs: number }>();
  /** Folders that were made; those of files need not be. */
  const folders = new Set<string>();
  const put = (path: string, data: string | Uint8Array): void => {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data.slice();
    kept.set(path, { data: bytes, mtimeMs: now() });
  };
  for (const [path, data] of Object.entries(files)) put(path, data);
  const below = (path: string): string[] =>
    [...kept.keys(), ...[...folders].map((folder) => `${folder}/`)].filter((other) =>
      other.startsWith(path === "/" ? "/" : `${path}/`),
    );
  return {
    read: async (path) => kept.get(path)?.data.slice(),
    write: async (path, data) => put(path, data),
    list: async (path) => namesBelow(path, below(path)),
    async stat(path) {
      const file = kept.get(path);
      if (file !== undefined) return { size: file.data.length, mtimeMs: file.mtimeMs, isDirectory: false };
      const isFolder = path === "/" || folders.has(path) || below(path).length > 0;
      return isFolder ? { size: 0, mtimeMs: 0, isDirectory: true } : undefined;
    },
    async mkdir(path) {
      folders.add(path);
    },
    async remove(path) {
      for (const other of [path, ...below(path)]) {
        kept.delete(other);
        folders.delete(other.replace(/\/$/, ""));
      }
    },
    async rename(from, to) {
      for (const other of [from, ...below(from)]) {
        const file = kept.get(other);
        if (file !== undefined) kept.set(to + other.slice(from.length), file);
        kept.delete(other);
        if (folders.delete(other.replace(/\/$/, "")))
          folders.add((to + other.slice(from.length)).replace(/\/$/, ""));
      }
    },
  };
}
