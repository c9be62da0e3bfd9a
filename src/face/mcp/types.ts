/** What a program gives the client of MCP servers, and what it gets. */
import type { ElicitationAnswer, ElicitationRequest, Tool, ToolAnnotations } from "../api/index.js";
import type { HostAbortSignal, HostResponse } from "../api/platform.js";

/** The options of {@link connectMcp}. */
export interface McpOptions {
  /** The address of the server, for example `https://files.example/mcp`. */
  url: string;
  /** Headers of every request, for example `authorization`. A function is called before each request. Default: none. */
  headers?: McpHeaders | (() => McpHeaders | PromiseLike<McpHeaders>) | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: McpFetch | undefined;
  /** What the server is told of your program. Default `{ name: "looplet", version: "1" }`. */
  client?: { readonly name: string; readonly version: string } | undefined;
  /**
   * The way in which the user answers when a server needs something of them in the middle of a call. A function is called
   * with the request, and the call waits for its answer. `"run"` makes the request a question of the run that calls the
   * tool, as {@link ToolContext.elicit} does: with a `store` it outlives the process, and so does the call, if the server
   * is of 2026-07-28. `callTool` outside of a run answers `cancel` then. Default: the server is told that nobody can be
   * asked.
   */
  onElicitation?:
    | "run"
    | ((
        request: McpElicitation,
        options: { readonly signal: HostAbortSignal },
      ) => McpElicitationAnswer | PromiseLike<McpElicitationAnswer>)
    | undefined;
  /** Ends the connecting. */
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
  },
) => Promise<HostResponse>;

/** A question of a server to the user: a form, or a page to visit. */
export type McpElicitation = ElicitationRequest;

export type McpElicitationAnswer = ElicitationAnswer;

/** A tool as a server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations?: ToolAnnotations;
}

export interface McpResult {
  readonly content: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface McpCallOptions {
  /** Ends the call, at the server too. */
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
  /** What the server tells the model about its tools. */
  readonly instructions: string | undefined;
  /** All tools, also those of further pages. */
  listTools(options?: { readonly signal?: HostAbortSignal | undefined }): Promise<readonly McpTool[]>;
  /** @throws McpError */
  callTool(name: string, input: object, options?: McpCallOptions): Promise<McpResult>;
  /**
   * The tools for `createAgent`, by the names `mcp__<server>__<tool>`. Characters that vendors refuse become `_`. A tool
   * with `readOnlyHint` may run beside others: that is a promise of the server.
   *
   * @throws McpError
   */
  tools(server: string): Promise<Record<string, Tool>>;
  /** Ends the session, if the server has one. */
  close(): Promise<void>;
}
