/** What a program gives the tools. A tool whose port is missing is not there. */
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
  /** Contract: called with the list of TodoWrite when it has changed. Default: the list is in the call alone. */
  onTodos?: ((todos: readonly Todo[]) => void) | undefined;
  /** Whether AskUserQuestion is there. It needs an agent with `canUseTool`, which answers. Default false. */
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

/** Returns the text of a page: `fetchPages()`, or a function of yours; a small model may answer `prompt`. */
export type WebFetchPort = (
  url: string,
  options: { readonly prompt: string; readonly signal: HostAbortSignal },
) => Promise<string>;

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm: string;
}

/** The ports with the methods that they need; an empty list stands for a function. Files may be there to read alone. */
const PORTS: { readonly [port: string]: readonly string[] } = {
  vfs: ["read", "list", "stat"],
  bash: ["exec"],
  search: [],
  webFetch: [],
  onTodos: [],
};

/** The first port that no tool could use, and what it needs; undefined if there is none. */
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
