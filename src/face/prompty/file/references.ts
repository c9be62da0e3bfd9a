/** `${env:NAME}`, `${env:NAME:default}` and `${file:path}` in the frontmatter. */
import { FileNotFoundError, ValueError } from "../errors.js";
import { isMap, yaml } from "./frontmatter.js";
import { folderOf, isInside, joinPath } from "./paths.js";
import type { PromptyHost } from "../types.js";

/**
 * The value with each reference replaced. `${file:…}` stands alone in its string: a `.json` or `.yaml` file becomes its
 * value, any other its text. References in such a file are relative to it.
 */
export async function resolveReferences(
  value: unknown,
  path: string,
  host: PromptyHost,
  within: readonly string[] = [folderOf(path)],
): Promise<unknown> {
  // `files` are the files that lead to the value, the nearest one first.
  const resolve = async (value: unknown, files: readonly string[]): Promise<unknown> => {
    if (typeof value === "string") return text(value, files);
    if (Array.isArray(value)) return Promise.all(value.map((item) => resolve(item, files)));
    if (!isMap(value)) return value;
    const pairs = Object.entries(value).map(
      async ([name, item]) => [name, await resolve(item, files)] as const,
    );
    return Object.fromEntries(await Promise.all(pairs));
  };
  const text = async (value: string, files: readonly string[]): Promise<unknown> => {
    const file = /^\$\{file:([^}]+)\}$/.exec(value.trim())?.[1];
    if (file === undefined) return fromEnvironment(value, host);
    const target = joinPath(folderOf(files[0]!), file);
    if (files.includes(target)) throw new ValueError(`\${file:${file}} refers to itself`);
    const roots = [...within, ...(host.roots ?? [])];
    const content = await readInside(target, roots, host);
    if (/\.(json|ya?ml)$/i.test(target)) return resolve(yaml(content, target), [target, ...files]);
    return content;
  };
  return resolve(value, [path]);
}

function fromEnvironment(text: string, { env = {} }: PromptyHost): string {
  return text.replace(/\$\{env:([^}:]+)(?::([^}]*))?\}/g, (_, name: string, fallback?: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined && fallback === undefined)
      throw new ValueError(`Environment variable '${name}' not set`);
    return value ?? fallback!;
  });
}

async function readInside(path: string, roots: readonly string[], host: PromptyHost): Promise<string> {
  const refuse = (): never => {
    throw new ValueError(`${path} is outside allowed roots`);
  };
  if (!roots.some((root) => isInside(path, root))) refuse();
  const { vfs } = host;
  if (vfs?.realpath !== undefined) {
    const real = async (one: string): Promise<string> => {
      try {
        return await vfs.realpath!(one);
      } catch {
        return one;
      }
    };
    const [target, ...folders] = await Promise.all([path, ...roots].map(real));
    if (!folders.some((root) => isInside(target!, root))) refuse();
  }
  return readText(path, host);
}

/** The text of a file of `host.vfs`, or without it of an address. @throws FileNotFoundError */
export async function readText(path: string, { vfs }: PromptyHost): Promise<string> {
  try {
    const content = await (vfs === undefined ? fetched(path) : vfs.readFile(path));
    return typeof content === "string" ? content : new TextDecoder().decode(content);
  } catch (error) {
    throw new FileNotFoundError(`FileNotFoundError: ${path}: ${(error as Error)?.message ?? error}`, {
      cause: error,
    });
  }
}

/** A redirect would lead out of the folder without being seen, so it is an error. */
async function fetched(address: string): Promise<string> {
  if (!isAddress(address)) throw new Error("host.vfs is missing, which reads files that have no address");
  const response = await globalThis.fetch(address, { redirect: "error" });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.text();
}

/** A page takes relative addresses too. */
function isAddress(path: string): boolean {
  return /^https?:/i.test(path) || typeof (globalThis as { document?: unknown }).document === "object";
}
