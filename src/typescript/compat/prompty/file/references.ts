/** `${env:NAME}`, `${env:NAME:default}` and `${file:path}` in the frontmatter. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { FileNotFoundError, ValueError } from "../errors.js";
import { isMap, yaml } from "./frontmatter.js";
import { shownUrl } from "../../../core/kit/http.js";
import { send } from "../../../core/kit/send.js";
import { folderOf, isInside, joinPath } from "./paths.js";
import type { PromptyHost } from "../types.js";

/** Files that a file refers to, directly and through those files. */
const MAX_FILES = 100;
/** Characters of a file with all files that it refers to. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Milliseconds until the last file that a file refers to is asked for. */
const MAX_MS = 120_000;
/** Values of the frontmatter with those of its files, and values in each other, files among them. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 50;

/** The references of one `.prompty` file, which share its bounds. */
export class References {
  readonly #path: string;
  readonly #host: PromptyHost;
  #files = 0;
  #characters = 0;
  #values = 0;
  readonly #signal: HostAbortSignal | undefined;
  readonly #begun = Date.now();

  constructor(path: string, host: PromptyHost, signal?: HostAbortSignal) {
    this.#path = path;
    this.#host = host;
    this.#signal = signal;
  }

  /** Counts the text of a file. @throws ValueError */
  take(text: string): string {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) this.#refuse(`has more than ${MAX_CHARACTERS} characters`);
    return text;
  }

  /**
   * The value with each reference replaced. `${file:…}` must be the whole string: a `.json` or `.yaml` file becomes
   * its value, any other its text. References in such a file are relative to it.
   *
   * @throws ValueError, FileNotFoundError
   */
  resolve(value: unknown): Promise<unknown> {
    return this.#value(value, [this.#path], 0);
  }

  /** `files` are the files that lead to the value, the nearest one first. One value after the other, so that an error stops all. */
  async #value(value: unknown, files: readonly string[], depth: number): Promise<unknown> {
    this.#values += 1;
    if (this.#values > MAX_VALUES) this.#refuse(`has more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) this.#refuse(`has values more than ${MAX_DEPTH} deep in each other`);
    if (typeof value === "string") return this.#text(value, files, depth);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await this.#value(item, files, depth + 1));
      return items;
    }
    if (!isMap(value)) return value;
    const pairs: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value))
      pairs.push([name, await this.#value(item, files, depth + 1)]);
    return Object.fromEntries(pairs);
  }

  async #text(value: string, files: readonly string[], depth: number): Promise<unknown> {
    const text = value.trim();
    const isFile = text.startsWith("${file:") && text.indexOf("}") === text.length - 1 && text.length > 8;
    if (!isFile) return fromEnvironment(value, this.#host);
    const file = text.slice("${file:".length, -1);
    const target = joinPath(folderOf(files[0]!), file);
    if (files.includes(target)) throw new ValueError(`\${file:${file}} refers to itself`);
    this.#files += 1;
    if (this.#files > MAX_FILES) this.#refuse(`refers to more than ${MAX_FILES} files`);
    if (Date.now() - this.#begun > MAX_MS) this.#refuse(`has files that take more than ${MAX_MS} ms`);
    const place = await placeInside(target, [folderOf(this.#path)], this.#host);
    const content = this.take(await readText(place, this.#host, this.#signal));
    if (/\.json$/i.test(target)) return this.#value(json(content, target), [target, ...files], depth + 1);
    if (/\.ya?ml$/i.test(target)) return this.#value(yaml(content, target), [target, ...files], depth + 1);
    return content;
  }

  #refuse(problem: string): never {
    throw new ValueError(
      `${this.#path || "The prompt"} ${problem}: split it, or give large values as inputs`,
    );
  }
}

function json(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ValueError(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** The text with each `${env:NAME}` and `${env:NAME:default}` replaced. */
function fromEnvironment(text: string, { env = {} }: PromptyHost): string {
  const start = "${env:";
  const pieces: string[] = [];
  let [from, close] = [0, -1];
  for (let open = text.indexOf(start); open >= 0; open = text.indexOf(start, from)) {
    if (close < open) close = text.indexOf("}", open);
    if (close < 0) break;
    pieces.push(text.slice(from, open));
    const reference = text.slice(open + start.length, close);
    const colon = reference.indexOf(":");
    const name = colon < 0 ? reference : reference.slice(0, colon);
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    from = name === "" ? open + start.length : close + 1;
    if (name === "") pieces.push(start);
    else if (value === undefined && colon < 0) throw new ValueError(`Environment variable '${name}' not set`);
    else pieces.push(value ?? reference.slice(colon + 1));
  }
  return [...pieces, text.slice(from)].join("");
}

/**
 * The place of a file that another file names: its path, or what `host.vfs.realpath` makes of it, which is then read.
 *
 * @throws ValueError for a place outside of these folders and of `host.roots`
 */
export async function placeInside(
  path: string,
  folders: readonly string[],
  host: PromptyHost,
): Promise<string> {
  const refuse = (): never => {
    throw new ValueError(`${path} is outside allowed roots; host.roots can name its folder`);
  };
  const roots = [...folders, ...(host.roots ?? [])];
  if (!roots.some((root) => isInside(path, root))) refuse();
  const { vfs } = host;
  if (vfs?.realpath === undefined) return path;
  const real = async (one: string): Promise<string> => {
    try {
      return await vfs.realpath!(one);
    } catch {
      return one;
    }
  };
  const target = await real(path);
  const realRoots = await Promise.all(roots.map((root) => real(root === "" ? "." : root)));
  if (!realRoots.some((root) => isInside(target, root))) refuse();
  return target;
}

/** The text of a file of `host.vfs`, or without it of an address. @throws FileNotFoundError */
export async function readText(
  path: string,
  { vfs }: PromptyHost,
  signal?: HostAbortSignal,
): Promise<string> {
  try {
    const reading = async () => (vfs === undefined ? fetched(path, signal) : vfs.readFile(path));
    const content = await untilAborted(reading, signal);
    return typeof content === "string" ? content : new TextDecoder().decode(content);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    // An address may have a key in it.
    const place = vfs === undefined ? shownUrl(path) : path;
    throw new FileNotFoundError(`FileNotFoundError: ${place}: ${(error as Error)?.message ?? error}`, {
      cause: error,
    });
  }
}

/** The size limit of a file with an address in bytes, and its time limit in milliseconds. */
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** A redirect would lead out of the folder without being seen, so it is an error. */
async function fetched(address: string, signal: HostAbortSignal | undefined): Promise<string> {
  if (!isAddress(address)) throw new Error("host.vfs is missing, which reads files that have no address");
  const answer = await send({
    url: address,
    place: "the file",
    method: "GET",
    signal,
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status >= 200 && answer.status < 300) return answer.text({ left: MAX_BYTES });
  answer.end();
  throw new Error(`the server answered ${answer.status}`);
}

/** A page takes relative addresses too. */
function isAddress(path: string): boolean {
  return /^https?:/i.test(path) || typeof (globalThis as { document?: unknown }).document === "object";
}

/** Does the work, and waits for it until the signal fires. Throws as the work, and the reason of the signal. */
async function untilAborted<T>(work: () => Promise<T>, signal: HostAbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw signal.reason;
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason as Error)));
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
