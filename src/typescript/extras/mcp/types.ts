/** What a program gives the client of MCP servers, and what it gets. */
import type { ElicitationAnswer, ElicitationRequest, Tool, ToolAnnotations } from "../../core/api/index.js";
import type { HostAbortSignal, HostResponse } from "../../core/api/platform.js";

/** The options of {@link connectMcp}. */
export interface McpOptions {
  /** The address of the server, for example `https://files.example/mcp`. */
  url: string;
  /**
   * Headers of every request, for example `authorization`. A function is called before each request. Default: none.
   */
  headers?: McpHeaders | (() => McpHeaders | PromiseLike<McpHeaders>) | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: McpFetch | undefined;
  /** The name and version of your program for the server. Default `{ name: "looplet", version: "1" }`. */
  client?: { readonly name: string; readonly version: string } | undefined;
  /**
   * How the user answers when a server requests input during a call. A function is called with the request, and the
   * call waits for its answer. With `"run"`, the request becomes a question of the run that calls the tool, as with
   * {@link ToolContext.elicit}. With a `store` the question survives a crash of the process, and so does the call if
   * the server supports 2026-07-28. Outside of a run, `callTool` then answers `cancel`. The questions of a call are
   * asked one after another, at most 50, and `request.server` says who asks. Default: the
   * client announces no support of elicitation.
   */
  onElicitation?:
    | "run"
    | ((
        request: McpElicitation,
        options: { readonly signal: HostAbortSignal },
      ) => McpElicitationAnswer | PromiseLike<McpElicitationAnswer>)
    | undefined;
  /**
   * Whether you trust the server's tool `annotations`. Then a tool with `readOnlyHint` runs in plan mode, in parallel
   * with others, and again after a crash. Default false.
   */
  trusted?: boolean | undefined;
  /**
   * Whether the model gets a definition only after it has found the tool by a search, for a server with many tools.
   * Default false.
   */
  deferLoading?: boolean | undefined;
  /** The maximum size of an answer, and of all pages of a list together, in bytes. Default 16 MiB. */
  maxResponseBytes?: number | undefined;
  /**
   * Milliseconds that a request has, all requests of `connectMcp` together, and all pages of a list. A call of a tool
   * has the time that its `signal` gives it. Default 60,000.
   */
  timeoutMs?: number | undefined;
  /** Contract: called when a listed tool is omitted, or when its name is changed. Default: `console.warn`. */
  onWarning?: ((message: string) => void) | undefined;
  /** Aborts connecting. */
  signal?: HostAbortSignal | undefined;
}

export interface McpHeaders {
  readonly [name: string]: string;
}

/** The global `fetch`, or a function like it. */
export type McpFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: McpHeaders;
    readonly body?: string;
    readonly signal?: HostAbortSignal;
    /** Pass it on: a redirect that is followed gives your headers to another server. */
    readonly redirect?: "manual";
  },
) => Promise<HostResponse>;

/** A server as you know it. Nothing here is its own word. */
export interface McpServerIdentity {
  /** The name that you passed to `client.tools`. Undefined in a call of `client.callTool`. */
  readonly name?: string;
  /** Its address, without a query and without levels that look like keys. */
  readonly url: string;
}

/** A question of a server to the user: a form, or a page to visit. */
export interface McpElicitation extends ElicitationRequest {
  /** The server that asks. */
  readonly server: McpServerIdentity;
  readonly _meta?: { readonly [name: string]: unknown };
}

export type McpElicitationAnswer = ElicitationAnswer;

/** A tool as a server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations?: ToolAnnotations | undefined;
}

export interface McpResult {
  readonly content: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface McpCallOptions {
  /** Aborts the call, also at the server. */
  readonly signal?: HostAbortSignal | undefined;
  /** Contract: called with each report of progress. */
  readonly onProgress?:
    | ((progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void)
    | undefined;
}

/** A server that was reached. */
export interface McpClient {
  /** `2026-07-28`, or `2025-11-25` and before for a server that does not know it. */
  readonly protocolVersion: string;
  /** The server's words about itself. */
  readonly server: { readonly name: string; readonly version: string };
  /** The server's instructions for the model. */
  readonly instructions: string | undefined;
  /**
   * All tools, including those of further pages: at most 100 pages with 2,000 tools. A malformed tool is omitted.
   *
   * @throws McpError `too_large` for a longer list
   */
  listTools(options?: { readonly signal?: HostAbortSignal | undefined }): Promise<readonly McpTool[]>;
  /** @throws McpError */
  callTool(name: string, input: object, options?: McpCallOptions): Promise<McpResult>;
  /**
   * The tools for `createAgent`, with the names `mcp__<server>__<tool>`. Characters that vendors refuse become `_`.
   * Tools that would get the same name get a digest of their original name as a suffix. A tool that `createAgent`
   * would refuse is omitted. With `trusted: true` a tool with `readOnlyHint` may run in parallel with others, and in
   * plan mode.
   *
   * @throws McpError; TypeError for a server name that contains `__`, begins or ends with `_`, or has more than 64
   * characters
   */
  tools(server: string): Promise<Record<string, Tool>>;
  /** Ends the session, if the server has one. Waits for the server for at most 5 s. */
  close(): Promise<void>;
}
