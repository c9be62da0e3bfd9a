/** `looplet/mcp`: the tools of MCP servers, over Streamable HTTP. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { Tool } from "../../core/api/index.js";
import { isObject, message as messageOfThrown } from "../../core/kit/check.js";
import { tool } from "../../core/index.js";
import { ToolError } from "../../core/api/errors.js";
import { refusedTools } from "./checked.js";
import { durableCall, type CallHost } from "./durable-call.js";
import { LEGACY, MODERN, modern, type Identity } from "./eras.js";
import { McpError } from "./errors.js";
import { listed, MAX_WARNINGS, shown } from "./listing.js";
import { namesOf, serverPart } from "./names.js";
import { readOptions } from "./options.js";
import { Questions } from "./questions.js";
import { resultOf } from "./result.js";
import { versionOf } from "./version.js";
import type {
  McpCallOptions,
  McpClient,
  McpElicitation,
  McpElicitationAnswer,
  McpOptions,
  McpResult,
  McpTool,
} from "./types.js";
import { Wire, wordsOf, type AskLimits, type Fields, type Reply, type RpcMessage } from "./wire.js";

export { McpError, type McpErrorCode } from "./errors.js";
export type * from "./types.js";

/**
 * The maximum number of requests of a server in one answer, and of those that wait for their answers at the same
 * time.
 */
const MAX_REQUESTS = 1000;
const MAX_WAITING = 100;

/** How long `close` waits for a server to end its session, in milliseconds. */
const CLOSE_MS = 5000;

/** The most characters of a report of progress, and of the problem of a tool. */
const PROGRESS_CHARS = 2000;
const WARNING_CHARS = 300;

/**
 * Connects to a server: with the protocol of 2026-07-28, or with that of 2025-11-25 if the server only supports it.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { connectMcp } from "looplet/mcp";
 *
 * const docs = await connectMcp({ url: "https://mcp.example.com" });
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, tools: await docs.tools("docs") });
 * ```
 *
 * @throws McpError `needs_auth` if the server requires other credentials
 */
export async function connectMcp(options: McpOptions): Promise<McpClient> {
  const own = readOptions(options);
  const client = new Client(own);
  await client.connect(own.signal);
  return client;
}

interface AskOptions extends McpCallOptions, AskLimits {
  /** Answers what the server asks the user during the request. */
  readonly elicit?: CallHost["elicit"] | undefined;
}

/** The run that makes a call, or a substitute for it. */
interface Caller extends Omit<CallHost, "address" | "onProgress" | "elicit" | "clean"> {
  readonly elicit: (request: McpElicitation) => Promise<McpElicitationAnswer>;
}

class Client implements McpClient {
  protocolVersion = MODERN;
  server = { name: "", version: "" };
  instructions: string | undefined;
  readonly #wire: Wire;
  readonly #identity: Identity;
  readonly #options: McpOptions;
  /** Headers of the requests of a session. */
  #session: Record<string, string> = {};
  /** A text of the server without the secrets of the last request. */
  #clean: Reply["clean"] = (text) => text;
  /** The tools of the last list, by name. */
  #tools = new Map<string, McpTool>();

  constructor(options: McpOptions) {
    const { client = { name: "looplet", version: "1" }, onElicitation } = options;
    this.#wire = new Wire(options);
    this.#options = options;
    const capabilities = onElicitation === undefined ? {} : { elicitation: { form: {}, url: {} } };
    this.#identity = { client, capabilities };
  }

  /** The requests of the beginning share the time of one. */
  async connect(signal?: HostAbortSignal): Promise<void> {
    const deadline = this.#wire.deadline();
    try {
      const { result } = await this.#ask("server/discover", {}, { signal, timeoutMs: deadline() });
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
    await this.#initialize(signal, deadline);
  }

  async listTools({ signal }: { readonly signal?: HostAbortSignal | undefined } = {}): Promise<McpTool[]> {
    const budget = this.#wire.budget();
    const deadline = this.#wire.deadline();
    const page = async (params: Fields): Promise<Fields> =>
      (await this.#ask("tools/list", params, { signal, budget, timeoutMs: deadline() })).result;
    const tools = await listed(page, this.#wire.address, (problem) => this.#warn(problem));
    this.#tools = new Map(tools.map((listed) => [listed.name, listed]));
    return tools;
  }

  async callTool(name: string, input: object, options: McpCallOptions = {}): Promise<McpResult> {
    const signal = options.signal ?? new AbortController().signal;
    const checkpoint = (): Promise<void> => Promise.resolve();
    const elicit = (): Promise<McpElicitationAnswer> => Promise.resolve({ action: "cancel" });
    return this.#call(name, input, options, { signal, elicit, checkpoint, restored: undefined });
  }

  /** `run` asks the user, unless the options have a function for it. `server` is your name for the server. */
  async #call(
    name: string,
    input: object,
    { onProgress }: McpCallOptions,
    run: Caller,
    server?: string,
  ): Promise<McpResult> {
    const { signal } = run;
    const own = this.#options.onElicitation;
    const identity = { ...(server === undefined ? {} : { name: server }), url: this.#wire.address };
    let told: Reply["clean"] = (text) => this.#clean(text);
    const clean: Reply["clean"] = (text) => told(text);
    const questions = new Questions(identity, name, { signal, clean }, async (request) =>
      typeof own === "function"
        ? ((await own(request, { signal })) ?? { action: "decline" })
        : run.elicit(request),
    );
    const elicit: CallHost["elicit"] = (params, key) => questions.ask(params, key);
    const ask = async (method: string, params: Fields): Promise<Fields> => {
      const isCall = method === "tools/call";
      // A task is cancelled after its call was aborted.
      const limits = method === "tasks/cancel" ? {} : { signal, elicit, isCall };
      const reply = await this.#ask(method, params, { ...limits, ...(isCall ? { onProgress } : {}) });
      told = reply.clean;
      return reply.result;
    };
    const { address } = this.#wire;
    const host: CallHost = { ...run, address, elicit, onProgress, clean };
    return resultOf(await durableCall(ask, { name, arguments: input }, host), clean);
  }

  async tools(server: string): Promise<Record<string, Tool>> {
    const part = serverPart(server, "client.tools");
    const listed = await this.listTools();
    const names = namesOf(
      part,
      listed.map(({ name }) => name),
    );
    const tools: [name: string, tool: Tool][] = [];
    let left = 0;
    const leave = (name: string, why: string): void => {
      if ((left += 1) <= MAX_WARNINGS) this.#warn(`The tool ${shown(name)} is left out: ${why}`);
    };
    for (const [at, found] of listed.entries()) {
      const name = names[at];
      if (name === undefined) leave(found.name, "another tool of the server has its name.");
      else
        try {
          tools.push([name, await this.#tool(found, server)]);
        } catch (error) {
          leave(found.name, messageOfThrown(error).split("\n")[0]!.slice(0, WARNING_CHARS));
        }
    }
    const refused = await refusedTools(tools);
    for (const [name, problem] of refused) leave(name, problem.slice(0, WARNING_CHARS));
    return Object.fromEntries(tools.filter(([name]) => !refused.has(name)));
  }

  #warn(message: string): void {
    const { onWarning = (text: string) => console.warn(text) } = this.#options;
    onWarning(`The MCP server ${this.#wire.address}: ${this.#clean(message)}`);
  }

  async close(): Promise<void> {
    if (this.#session["mcp-session-id"] === undefined) return;
    await this.#wire.tell("DELETE", this.#session, undefined, { timeoutMs: CLOSE_MS }).catch(() => {});
  }

  async #tool(found: McpTool, server: string): Promise<Tool> {
    const { name, inputSchema, annotations } = found;
    const description = found.description?.trim() ? found.description : name;
    // A definition that is too deep for JSON has no version. `tool` refuses it with its own message.
    const version = await versionOf(found, this.#wire.address).catch(() => undefined);
    return tool({
      description,
      inputSchema,
      ...(version === undefined ? {} : { version }),
      ...(annotations === undefined || this.#options.trusted !== true ? {} : { annotations }),
      ...(this.#options.deferLoading === true ? { deferLoading: true } : {}),
      execute: async (input: object, { progress, ...run }) => {
        const result = await this.#call(name, input, { onProgress: progress }, run, server);
        if (result.isError !== true) return result;
        const texts = result.content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
        throw new ToolError({
          code: "tool_failed",
          message: texts.join("\n").trim() || "The tool failed.",
          recoverable: true,
        });
      },
    }) as Tool;
  }

  /** The greeting of the generation before. */
  async #initialize(
    signal: HostAbortSignal | undefined,
    deadline: () => number = this.#wire.deadline(),
  ): Promise<void> {
    this.protocolVersion = LEGACY;
    this.#session = {};
    const { client, capabilities } = this.#identity;
    const params = { protocolVersion: LEGACY, capabilities, clientInfo: client };
    const { result, session: id } = await this.#ask("initialize", params, {
      signal,
      timeoutMs: deadline(),
    });
    const version = result["protocolVersion"];
    // It is sent back with each request.
    if (id !== null && !/^[!-~]{1,4096}$/.test(id))
      throw new McpError(
        "http",
        `The MCP server ${this.#wire.address} started a session with an invalid id.`,
      );
    // It becomes a header.
    if (typeof version === "string" && /^[\w.-]{1,64}$/.test(version)) this.protocolVersion = version;
    this.#session = {
      "mcp-protocol-version": this.protocolVersion,
      ...(id === null ? {} : { "mcp-session-id": id }),
    };
    this.#know(result, result["serverInfo"]);
    await this.#wire.tell(
      "POST",
      this.#session,
      { method: "notifications/initialized" },
      { signal, timeoutMs: deadline() },
    );
  }

  #know({ instructions }: Fields, server: unknown): void {
    const { name = "", version = "" } = isObject(server) ? server : {};
    this.server = { name: wordsOf(name ?? ""), version: wordsOf(version ?? "") };
    this.instructions = typeof instructions === "string" ? instructions : undefined;
  }

  /** `isAgain`: a new session was started for this request. */
  async #ask(method: string, params: Fields, options: AskOptions, isAgain = false): Promise<Reply> {
    const { signal, onProgress } = options;
    const id = this.#wire.nextId();
    const meta = onProgress === undefined ? {} : { _meta: { progressToken: id } };
    const plain: RpcMessage = { id, method, params: { ...params, ...meta } };
    const isModern = this.protocolVersion === MODERN;
    const called = isModern ? this.#tools.get(String(params["name"])) : undefined;
    const { message, headers } = isModern
      ? modern(plain, this.#identity, called)
      : { message: plain, headers: this.#session };
    const answering = new AbortController();
    const respond = this.#answering(options, answering.signal);
    const hear = (heard: RpcMessage, clean: Reply["clean"]): void => {
      this.#clean = clean;
      const { method, params = {} } = heard;
      if (method === "notifications/progress" && params["progressToken"] === id)
        onProgress?.(progressOf(params, clean));
      else if (method !== undefined && heard.id !== undefined) respond(heard);
    };
    // In the modern generation, closing the connection ends the call.
    const cancel = (): void => {
      const cancelled = { method: "notifications/cancelled", params: { requestId: id } };
      void this.#wire.tell("POST", headers, cancelled).catch(() => {});
    };
    if (!isModern) signal?.addEventListener("abort", cancel, { once: true });
    try {
      const reply = await this.#wire.ask(message, headers, hear, options);
      this.#clean = reply.clean;
      return reply;
    } catch (error) {
      const isGone = error instanceof McpError && error.status === 404 && "mcp-session-id" in headers;
      if (!isGone || isAgain) throw error;
      // The server has ended the session.
      await this.#initialize(signal);
      return await this.#ask(method, params, options, true);
    } finally {
      answering.abort();
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Answers the requests of a server of the previous generation one after another, while their stream is open. */
  #answering({ elicit, signal }: AskOptions, over: HostAbortSignal): (request: RpcMessage) => void {
    let waiting = 0;
    let asked = 0;
    let last = Promise.resolve();
    return (request) => {
      waiting += 1;
      asked += 1;
      if (waiting > MAX_WAITING || asked > MAX_REQUESTS) {
        const most = waiting > MAX_WAITING ? `${MAX_WAITING} things at once` : `${MAX_REQUESTS} things`;
        throw new McpError("too_large", `The MCP server ${this.#wire.address} asked more than ${most}.`);
      }
      const isPing = request.method === "ping";
      // A ping is answered without waiting for the user's answer to an earlier request.
      const answer = (isPing ? Promise.resolve() : last).then(async () => {
        if (!over.aborted) await this.#answer(request, elicit, signal);
        waiting -= 1;
      });
      if (!isPing) last = answer;
    };
  }

  async #answer(
    { id, method, params }: RpcMessage,
    elicit: AskOptions["elicit"],
    signal?: HostAbortSignal,
  ): Promise<void> {
    let message: Fields = { id, error: { code: -32601, message: "This method is not supported." } };
    try {
      if (method === "ping") message = { id, result: {} };
      else if (
        method === "elicitation/create" &&
        this.#options.onElicitation !== undefined &&
        elicit !== undefined
      )
        message = { id, result: { ...(await elicit(params)) } };
    } catch (error) {
      // The server learns nothing of your code's errors.
      const isOurs = error instanceof McpError;
      message = {
        id,
        error: { code: -32603, message: isOurs ? error.message : "The question was not answered." },
      };
    }
    await this.#wire.tell("POST", this.#session, message as RpcMessage, { signal }).catch(() => {});
  }
}

/** The fields of a report that have their types. */
function progressOf(
  { progress, total, message }: Fields,
  clean: Reply["clean"],
): { progress: number; total?: number; message?: string } {
  return {
    progress: typeof progress === "number" ? progress : 0,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message: clean(message.slice(0, PROGRESS_CHARS)) } : {}),
  };
}
