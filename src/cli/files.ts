/** The files that commands get: recorded runs and agents. */
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent } from "../typescript/core/api/index.js";
import { internalsOf } from "../typescript/core/kit/runs.js";
import { describe } from "../typescript/core/kit/check.js";
import { UsageError, type Options } from "./command.js";

/**
 * The text of a file, such as a `.loop` file.
 *
 * @throws UsageError
 */
export async function textFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * Writes a file. `isPrivate`: only the user may read one that is created.
 *
 * @throws UsageError
 */
export async function written(path: string, text: string, isPrivate = false): Promise<void> {
  try {
    await writeFile(path, text, isPrivate ? { mode: 0o600 } : {});
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${reasonOf(error)}`);
  }
}

/** What a module of an agent exports. */
export interface AgentModule {
  /** An agent, or a function that makes one. */
  readonly default: unknown;
  readonly [name: string]: unknown;
}

/**
 * Loads a module with a default export that is an agent, or a function that creates one.
 *
 * @throws UsageError
 */
export async function agentModule(path: string): Promise<AgentModule> {
  let module: AgentModule;
  try {
    module = (await import(pathToFileURL(resolve(path)).href)) as AgentModule;
  } catch (error) {
    throw new UsageError(`${path} cannot be loaded: ${reasonOf(error)}`);
  }
  if (typeof module.default !== "function") checkAgent(module.default, path);
  return module;
}

/**
 * The agent of a module.
 *
 * @throws UsageError
 */
export async function agentFile(path: string): Promise<Agent> {
  const { default: given } = await agentModule(path);
  if (typeof given !== "function") return given as Agent;
  let made: unknown;
  try {
    made = await (given as () => unknown)();
  } catch (error) {
    throw new UsageError(`${path} did not create an agent: ${reasonOf(error)}`);
  }
  return checkAgent(made, path);
}

function checkAgent(made: unknown, path: string): Agent {
  if (internalsOf(made) !== undefined) return made as Agent;
  const got = made === undefined ? "nothing" : describe(made);
  throw new UsageError(
    `${path} needs an agent of createAgent as its default export, or a function that makes one; it has ${got}`,
  );
}

/**
 * The agent of `--agent`.
 *
 * @throws UsageError
 */
export async function agentOption({ agent }: Options): Promise<Agent> {
  if (typeof agent !== "string") throw new UsageError("--agent AGENT is missing");
  return agentFile(agent);
}

/**
 * A whole number of an option.
 *
 * @throws UsageError
 */
export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  throw new UsageError(`--${name} needs a whole number, got ${String(value)}`);
}

/** The names of an option, with commas between them; undefined if it is not set. */
export function namesOption(options: Options, name: string): string[] | undefined {
  const value = options[name];
  return typeof value === "string" ? value.split(",").map((one) => one.trim()) : undefined;
}

/**
 * An amount of money of an option.
 *
 * @throws UsageError
 */
export function amountOption(options: Options, name: string): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d{1,9}(?:\.\d+)?$/.test(value) && Number(value) > 0)
    return Number(value);
  throw new UsageError(`--${name} needs a positive number, got ${String(value)}`);
}

/** The words of an error, with its place in a file of the user. */
function reasonOf(error: unknown): string {
  const { code, message, stack } = error as { code?: string; message?: string; stack?: string };
  if (code === "ENOENT") return "the file does not exist";
  if (code === "ERR_UNKNOWN_FILE_EXTENSION")
    return "this runtime cannot load TypeScript; Node can since 22.18";
  const place = /\bat (?:.*\()?(file:\/\/.*?:\d+:\d+)\)?$/m.exec(stack ?? "")?.[1];
  return `${message ?? String(error)}${place === undefined ? "" : ` (${place})`}`;
}
