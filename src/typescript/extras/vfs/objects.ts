/** Files in Cloudflare's R2 and KV. Their objects have keys and no folders. */
import { checkMethods } from "../check-methods.js";
import type { Vfs } from "./index.js";
import { namesBelow } from "./paths.js";

/** What a place of objects can do. Keys have no `/` at their beginning. */
interface Objects {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, data: Uint8Array): Promise<void>;
  /** The objects with keys that begin with `prefix`. */
  list(prefix: string): Promise<readonly Listed[]>;
  delete(keys: readonly string[]): Promise<void>;
}

interface Listed {
  readonly key: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** The parts of an R2 bucket that {@link r2Vfs} uses. */
export interface R2BucketLike {
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(keys: string[]): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly size: number; readonly uploaded: Date }[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
}

/** The parts of a KV namespace that {@link kvVfs} uses. */
export interface KvNamespaceLike {
  get(key: string, type: "arrayBuffer"): Promise<ArrayBuffer | null>;
  put(
    key: string,
    value: Uint8Array,
    options: { metadata: { readonly size: number; readonly mtimeMs: number } },
  ): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly keys: readonly { readonly name: string; readonly metadata?: unknown }[];
    readonly list_complete: boolean;
    readonly cursor?: string;
  }>;
}

/** The maximum number of keys that R2 deletes in one call. */
const R2_KEYS = 1000;

/** The files of an R2 bucket, below the folder `root` of its keys. */
export function r2Vfs(bucket: R2BucketLike, root = ""): Vfs {
  const what = "an R2 bucket; is the binding in the Wrangler configuration?";
  checkMethods(bucket, "bucket", what, ["get", "put", "list", "delete"]);
  return objectsVfs(
    {
      async get(key) {
        const object = await bucket.get(key);
        return object === null ? undefined : new Uint8Array(await object.arrayBuffer());
      },
      put: async (key, data) => void (await bucket.put(key, data)),
      list: (prefix) =>
        pages(async (cursor) => {
          const page = await bucket.list({ prefix, ...cursor });
          const items = page.objects.map(({ key, size, uploaded }) => ({
            key,
            size,
            mtimeMs: uploaded.getTime(),
          }));
          return { items, cursor: page.truncated ? page.cursor : undefined };
        }),
      async delete(keys) {
        for (let at = 0; at < keys.length; at += R2_KEYS) await bucket.delete(keys.slice(at, at + R2_KEYS));
      },
    },
    root,
  );
}

/**
 * The files of a KV namespace, below the folder `root` of its keys. KV is eventually consistent: another place may
 * see an older file for a minute, and lists may lack a new one.
 */
export function kvVfs(namespace: KvNamespaceLike, root = "", now: () => number = Date.now): Vfs {
  const what = "a KV namespace; is the binding in the Wrangler configuration?";
  checkMethods(namespace, "namespace", what, ["get", "put", "list", "delete"]);
  return objectsVfs(
    {
      async get(key) {
        const value = await namespace.get(key, "arrayBuffer");
        return value === null ? undefined : new Uint8Array(value);
      },
      put: (key, data) => namespace.put(key, data, { metadata: { size: data.length, mtimeMs: now() } }),
      list: (prefix) =>
        pages(async (cursor) => {
          const page = await namespace.list({ prefix, ...cursor });
          const items = page.keys.map(({ name, metadata }) => {
            const { size = 0, mtimeMs = 0 } = (metadata ?? {}) as Partial<Listed>;
            return { key: name, size, mtimeMs };
          });
          return { items, cursor: page.list_complete ? undefined : page.cursor };
        }),
      delete: async (keys) => {
        for (const key of keys) await namespace.delete(key);
      },
    },
    root,
  );
}

async function pages(
  page: (at: { cursor?: string }) => Promise<{ items: readonly Listed[]; cursor: string | undefined }>,
): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let at: { cursor?: string } = {}; ;) {
    const { items, cursor } = await page(at);
    all.push(...items);
    if (cursor === undefined) return all;
    at = { cursor };
  }
}

/**
 * A created folder is an object without content and with a key that ends with `/`. Parent folders of files need none.
 */
function objectsVfs(objects: Objects, root: string): Vfs {
  const base = root.replace(/^\/+|\/+$/g, "");
  const keyOf = (path: string): string => [base, path.slice(1)].filter((part) => part !== "").join("/");
  const folderOf = (path: string): string => (keyOf(path) === "" ? "" : `${keyOf(path)}/`);
  /** The object of a file, and those below a folder. */
  const all = async (path: string): Promise<Listed[]> => {
    const listed = await objects.list(keyOf(path));
    return listed.filter(({ key }) => key === keyOf(path) || key.startsWith(folderOf(path)));
  };
  return {
    read: (path) => objects.get(keyOf(path)),
    write: (path, data) => objects.put(keyOf(path), data),
    async list(path) {
      const listed = await objects.list(folderOf(path));
      const paths = listed.map(({ key }) => `/${base === "" ? key : key.slice(base.length + 1)}`);
      return namesBelow(path, paths);
    },
    async stat(path) {
      const found = await all(path);
      const file = found.find(({ key }) => key === keyOf(path) && path !== "/");
      if (file !== undefined) return { size: file.size, mtimeMs: file.mtimeMs, isDirectory: false };
      const isFolder = path === "/" || found.length > 0;
      return isFolder ? { size: 0, mtimeMs: 0, isDirectory: true } : undefined;
    },
    mkdir: (path) => (path === "/" ? Promise.resolve() : objects.put(folderOf(path), new Uint8Array())),
    async remove(path) {
      await objects.delete((await all(path)).map(({ key }) => key));
    },
    async rename(from, to) {
      const moved = await all(from);
      for (const { key } of moved)
        await objects.put(
          keyOf(to) + key.slice(keyOf(from).length),
          (await objects.get(key)) ?? new Uint8Array(),
        );
      await objects.delete(moved.map(({ key }) => key));
    },
  };
}
