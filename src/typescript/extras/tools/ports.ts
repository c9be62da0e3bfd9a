/** What a program provides to the tools. A tool without its port does not exist. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { Vfs } from "../vfs/index.js";

export interface ToolPorts {
  /** The files for Read, Write, Edit, Glob and Grep. */
  vfs?: Vfs | undefined;
  /** The folder of relative paths, and the one below which files may be written. Default `"/"`. */
  cwd?: string | undefined;
  /** Further folders below which files may be written. Default: none. */
  additionalDirectories?: readonly string[] | undefined;
  /** Runs the commands of Bash, best in a sandbox. */
  bash?: BashPort | undefined;
  /** Variables for the commands of Bash. Default: none. */
  env?: { readonly [name: string]: string } | undefined;
  /** Searches for WebSearch. */
  search?: SearchPort | undefined;
  /** Gets the pages of WebFetch. On a server it should refuse addresses of your own network. */
  webFetch?: WebFetchPort | undefined;
  /** Contract: called with the list of TodoWrite when it has changed. Default: the list is only in the call. */
  onTodos?: ((todos: readonly Todo[]) => void) | undefined;
  /** Whether AskUserQuestion exists. It needs an agent with `canUseTool`, which answers. Default false. */
  asksUser?: boolean | undefined;
}

export interface BashPort {
  exec(
    command: string,
    options: {
      readonly signal: HostAbortSignal;
      readonly cwd: string;
      readonly timeoutMs: number;
      readonly env: { readonly [name: string]: string };
    },
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>;
}

export type SearchPort = (
  query: string,
  options: {
    readonly allowedDomains?: readonly string[];
    readonly blockedDomains?: readonly string[];
    readonly signal: HostAbortSignal;
  },
) => Promise<readonly { readonly title: string; readonly url: string; readonly snippet?: string }[]>;

/** Returns the text of a page: `fetchPages()`, or your own function. A small model may answer `prompt`. */
export type WebFetchPort = (
  url: string,
  options: { readonly prompt: string; readonly signal: HostAbortSignal },
) => Promise<string>;

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm: string;
}

/** The ports with the methods that they need. An empty list means a function. Files may be read-only. */
const PORTS: { readonly [port: string]: readonly string[] } = {
  vfs: ["read", "list", "stat"],
  bash: ["exec"],
  search: [],
  webFetch: [],
  onTodos: [],
};

/** The first port that no tool can use, and what it needs. Undefined if all are valid. */
export function portProblem(ports: object): { port: string; needs: string } | undefined {
  for (const [port, methods] of Object.entries(PORTS)) {
    const value: unknown = (ports as { [name: string]: unknown })[port];
    if (value === undefined) continue;
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    const missing =
      isObject && methods.filter((name) => !isFunction((value as { [name: string]: unknown })[name]));
    if (methods.length === 0 && typeof value !== "function") return { port, needs: "needs a function" };
    if (missing === false) return { port, needs: `needs an object with ${methods.join(", ")}` };
    if (missing.length > 0) return { port, needs: `has no function ${missing.join(", ")}` };
  }
  return undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
