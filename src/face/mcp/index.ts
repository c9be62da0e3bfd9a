/** `looplet/mcp`: the tools of MCP servers, over Streamable HTTP. */
import type { HostAbortSignal } from "../api/platform.js";
import type { Tool } from "../api/index.js";
import { isObject } from "../options/check.js";
import { ToolError } from "../api/errors.js";
import { tool } from "../tools/tool.js";
import { durableCall, type CallHost } from "./durable-call.js";
import { LEGACY, MODERN, modern, type Identity } from "./eras.js";
import { McpError } from "./errors.js";
import type {
  McpCallOptions,
  McpClient,
  McpElicitation,
  McpElicitationAnswer,
  McpOptions,
  McpResult,
  McpTool,
} from "./types.js";
import { Wire, type Fields, type Reply, type RpcMessage } from "./wire.js";

export { McpError, type McpErrorCode } from "./errors.js";
export type * from "./types.js";

/** The most pages of a list. */
const PAGES = 1000;

/**
 * Connects to a server: by the protocol of 2026-07-28, or by that of 2025-11-25 where the server does not know it.
 *
 * @throws McpError `needs_auth` if the server wants another authorization
 */
export async function connectMcp(options: McpOptions): Promise<McpClient> {
  if (typeof options?.url !== "string") throw new TypeError("connectMcp: url needs the address of a server");
  const client = new Client(options);
  await client.connect(options.signal);
  return client;
}

interface AskOptions extends McpCallOptions {
  /** Answers what the server asks of the user meanwhile. */
  readonly elicit?: CallHost["elicit"] | undefined;
}

class Client implements McpClient {
  protocolVersion = MODERN;
  server = { name: "", version: "" };
  instructions: string | undefined;
  readonly #wire: Wire;
  readonly #identity: Identity;
  readonly #onElicitation: McpOptions["onElicitation"];
  /** Headers of the requests of a session. */
  #session: Record<string, string> = {};
  /** The tools of the last list, by name. */
  #tools = new Map<string, McpTool>();

  constructor(options: McpOptions) {
    const { client = { name: "looplet", version: "1" }, onElicitation } = options;
    this.#wire = new Wire(options);
    this.#onElicitation = onElicitation;
    const capabilities = onElicitation === undefined ? {} : { elicitation: { form: {}, url: {} } };
    this.#identity = { client, capabilities };
  }

  async connect(signal?: HostAbortSignal): Promise<void> {
    try {
      const { result } = await this.#ask("server/discover", {}, { signal });
      const versions = result["supportedVersions"];
      if (Array.isArray(versions) && versions.includes(MODERN)) {
        const meta = isObject(result["_meta"]) ? result["_meta"] : {};
        return this.#know(result, meta["io.modelcontextprotocol/serverInfo"]);
      }
    } catch (error) {
      // A server that does not know the request refuses it in many ways.
      const refused = error instanceof McpError && (error.code === "rpc" || error.code === "http");
      if (!refused) throw error;
    }
    await this.#initialize(signal);
  }

  async listTools({ signal }: { readonly signal?: HostAbortSignal | undefined } = {}): Promise<McpTool[]> {
    const tools: McpTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < PAGES; page++) {
      const params = typeof cursor === "string" ? { cursor } : {};
      const { result } = await this.#ask("tools/list", params, { signal });
      const listed: unknown[] = Array.isArray(result["tools"]) ? result["tools"] : [];
      tools.push(
        ...(listed.filter((listed) => isObject(listed) && isObject(listed["inputSchema"])) as never[]),
      );
      cursor = result["nextCursor"];
      if (typeof cursor !== "string" || cursor === "") break;
    }
    this.#tools = new Map(tools.map((listed) => [listed.name, listed]));
    return tools;
  }

  async callTool(name: string, input: object, options: McpCallOptions = {}): Promise<McpResult> {
    const signal = options.signal ?? new AbortController().signal;
    const checkpoint = (): Promise<void> => Promise.resolve();
    const elicit = (): Promise<McpElicitationAnswer> => Promise.resolve({ action: "cancel" });
    return this.#call(name, input, options, { signal, elicit, checkpoint, restored: undefined });
  }

  /** `run` asks the user, unless the options have a function that does. */
  async #call(
    name: string,
    input: object,
    { onProgress }: McpCallOptions,
    run: Omit<CallHost, "onProgress">,
  ): Promise<McpResult> {
    const { signal } = run;
    const own = this.#onElicitation;
    const elicit: CallHost["elicit"] =
      typeof own === "function"
        ? async (request) => (await own(request, { signal })) ?? { action: "decline" }
        : run.elicit;
    const ask = async (method: string, params: Fields): Promise<Fields> => {
      // A task is ended after its call was aborted.
      if (method === "tasks/cancel") return (await this.#ask(method, params, {})).result;
      const hearing = method === "tools/call" ? { onProgress } : {};
      return (await this.#ask(method, params, { signal, elicit, ...hearing })).result;
    };
    return resultOf(await durableCall(ask, { name, arguments: input }, { ...run, elicit, onProgress }));
  }

  async tools(server: string): Promise<Record<string, Tool>> {
    const tools = (await this.listTools()).map(
      (listed) => [nameOf(server, listed), this.#tool(listed)] as const,
    );
    return Object.fromEntries(tools);
  }

  async close(): Promise<void> {
    if (this.#session["mcp-session-id"] === undefined) return;
    await this.#wire.send("DELETE", this.#session).catch(() => {});
  }

  #tool(listed: McpTool): Tool {
    const { name, description = name, inputSchema, annotations } = listed;
    return tool({
      description,
      inputSchema,
      ...(annotations === undefined ? {} : { annotations }),
      execute: async (input: object, { progress, ...run }) => {
        const result = await this.#call(name, input, { onProgress: progress }, run);
        if (result.isError !== true) return result;
        const texts = result.content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
        throw new ToolError({ code: "tool_failed", message: texts.join("\n"), recoverable: true });
      },
    }) as Tool;
  }

  /** The greeting of the generation before. */
  async #initialize(signal?: HostAbortSignal): Promise<void> {
    this.protocolVersion = LEGACY;
    this.#session = {};
    const { client, capabilities } = this.#identity;
    const params = { protocolVersion: LEGACY, capabilities, clientInfo: client };
    const { result, response } = await this.#ask("initialize", params, { signal });
    const id = response.headers.get("mcp-session-id");
    if (typeof result["protocolVersion"] === "string") this.protocolVersion = result["protocolVersion"];
    this.#session = {
      "mcp-protocol-version": this.protocolVersion,
      ...(id === null ? {} : { "mcp-session-id": id }),
    };
    this.#know(result, result["serverInfo"]);
    await this.#wire.send("POST", this.#session, { method: "notifications/initialized" }, signal);
  }

  #know({ instructions }: Fields, server: unknown): void {
    const { name = "", version = "" } = isObject(server) ? server : {};
    this.server = { name: String(name), version: String(version) };
    this.instructions = typeof instructions === "string" ? instructions : undefined;
  }

  /** `isAgain`: the session was begun anew for this request. */
  async #ask(
    method: string,
    params: Fields,
    { signal, onProgress, elicit }: AskOptions,
    isAgain = false,
  ): Promise<Reply> {
    const id = this.#wire.nextId();
    const meta = onProgress === undefined ? {} : { _meta: { progressToken: id } };
    const plain: RpcMessage = { id, method, params: { ...params, ...meta } };
    const isModern = this.protocolVersion === MODERN;
    const called = isModern ? this.#tools.get(String(params["name"])) : undefined;
    const { message, headers } = isModern
      ? modern(plain, this.#identity, called)
      : { message: plain, headers: this.#session };
    const hear = (heard: RpcMessage): void => {
      const { method, params = {} } = heard;
      if (method === "notifications/progress" && params["progressToken"] === id)
        onProgress?.(params as never);
      else if (method !== undefined && heard.id !== undefined) void this.#answer(heard, elicit, signal);
    };
    // The modern generation takes the end of the connection for the end of the call.
    const cancel = (): void => {
      const cancelled = { method: "notifications/cancelled", params: { requestId: id } };
      void this.#wire.send("POST", headers, cancelled).catch(() => {});
    };
    if (!isModern) signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await this.#wire.ask(message, headers, hear, signal);
    } catch (error) {
      const isGone = error instanceof McpError && error.status === 404 && "mcp-session-id" in headers;
      if (!isGone || isAgain) throw error;
      // The server has ended the session.
      await this.#initialize(signal);
      return await this.#ask(method, params, { signal, onProgress, elicit }, true);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Answers a request of a server of the generation before. */
  async #answer(
    { id, method, params }: RpcMessage,
    elicit: AskOptions["elicit"],
    signal?: HostAbortSignal,
  ): Promise<void> {
    let message: RpcMessage = { id: id!, error: { code: -32601, message: `There is no ${method}.` } };
    try {
      if (method === "ping") message = { id: id!, result: {} };
      else if (method === "elicitation/create" && this.#onElicitation !== undefined && elicit !== undefined)
        message = { id: id!, result: { ...(await elicit(params as unknown as McpElicitation)) } };
    } catch (error) {
      message = { id: id!, error: { code: -32603, message: String(error) } };
    }
    await this.#wire.send("POST", this.#session, message, signal).catch(() => {});
  }
}

function resultOf({ content, structuredContent, isError }: Fields): McpResult {
  return {
    content: Array.isArray(content) ? content : [],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {}),
  };
}

/** Vendors take letters, digits, `_` and `-`. */
function nameOf(server: string, { name }: McpTool): string {
  return `mcp__${server}__${name}`.replace(/[^\w-]/g, "_");
}
