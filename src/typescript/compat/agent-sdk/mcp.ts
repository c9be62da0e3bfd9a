/** Tools in the shape of the Agent SDK, servers of them in the process, and servers beyond it. */
import { tool as looplet, ToolError } from "../../core/index.js";
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { InputSchema, Tool, ToolAnnotations } from "../../core/api/index.js";
import { joined } from "../../core/kit/check.js";
import { isShape, schemaOfShape, type ArgsOf, type InputShape } from "./shape.js";
import { connectMcp, McpError } from "../../extras/mcp/index.js";
import type {
  McpClient,
  McpElicitation,
  McpElicitationAnswer,
  McpFetch,
  McpOptions,
} from "../../extras/mcp/index.js";
import { serverPart } from "../../extras/mcp/names.js";

/** What a handler returns: a result of MCP, or a text. */
export type CallToolResult =
  | string
  | {
      readonly content: readonly { readonly type: string; readonly [field: string]: unknown }[];
      readonly isError?: boolean;
      readonly structuredContent?: unknown;
      readonly _meta?: { readonly [name: string]: unknown };
    };

export interface SdkMcpToolDefinition<S = InputSchema | InputShape> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: S;
  readonly handler: (args: any, extra: unknown) => CallToolResult | Promise<CallToolResult>;
  readonly annotations?: (ToolAnnotations & { readonly readOnly?: boolean }) | undefined;
  /** Additional search words for the tool ToolSearch, besides its name and its description. */
  readonly searchHint?: string | undefined;
  /** Whether ToolSearch never withholds it. Default false. */
  readonly alwaysLoad?: boolean | undefined;
  /** Does nothing. */
  readonly _meta?: { readonly [name: string]: unknown } | undefined;
}

/** A server in the process. */
export interface McpSdkServerConfig {
  readonly type: "sdk";
  readonly name: string;
  /** Does nothing: a handler has its `signal`. */
  readonly timeout?: number | undefined;
}

/** A server that `mcpServers` takes. */
export interface SdkMcpServer extends McpSdkServerConfig {
  readonly version: string;
  readonly tools: readonly SdkMcpToolDefinition<any>[];
}

/** What {@link createSdkMcpServer} returns. Its tools are looplet's own: a server of another library is reached by http. */
export type McpSdkServerConfigWithInstance = SdkMcpServer;

/** What an organisation allows of a tool. It does nothing here: rules decide. */
export interface McpServerToolPolicy {
  readonly name: string;
  readonly permission_policy?: "always_allow" | "always_ask" | "always_deny";
  readonly org_max_permission?: "allow" | "ask" | "blocked";
}

/** Where a server is from. looplet does not send it. */
export interface McpServerProvenance {
  readonly name: string;
  readonly source: string;
}

/** Fields of a server that do nothing here. */
interface UnreadServer {
  readonly tools?: readonly McpServerToolPolicy[] | undefined;
  readonly timeout?: number | undefined;
  readonly alwaysLoad?: boolean | undefined;
}

/**
 * Defines a tool. `schema` are the fields of its input, for example `{ city: z.string() }`, or a JSON Schema or
 * Standard Schema of an object. Calls run one after the other, unless `annotations` has `readOnlyHint` or `readOnly`.
 */
export function tool<const S extends InputSchema | InputShape>(
  name: string,
  description: string,
  schema: S,
  handler: (args: ArgsOf<S>, extra: unknown) => CallToolResult | Promise<CallToolResult>,
  extras: Pick<SdkMcpToolDefinition, "annotations" | "searchHint" | "alwaysLoad"> = {},
): SdkMcpToolDefinition<S> {
  if (typeof name !== "string" || name === "") throw new TypeError("tool: its first argument is its name");
  if (typeof handler !== "function") throw new TypeError(`tool: "${name}" needs a function as its handler`);
  const { annotations, searchHint, alwaysLoad } = extras;
  return { name, description, inputSchema: schema, handler, annotations, searchHint, alwaysLoad };
}

/** A server of these tools, for `mcpServers`. */
export function createSdkMcpServer(options: {
  name: string;
  version?: string;
  /** Does nothing. */
  instructions?: string;
  tools?: readonly SdkMcpToolDefinition<any>[];
  /** Whether ToolSearch never withholds its tools. Default false. */
  alwaysLoad?: boolean;
  /** Does nothing: a handler has its `signal`. */
  timeout?: number;
}): SdkMcpServer {
  const { name, version = "1.0.0", alwaysLoad } = options;
  const tools = (options.tools ?? []).map((tool) => (alwaysLoad ? { ...tool, alwaysLoad } : tool));
  return { type: "sdk", name, version, tools };
}

/** A server with Streamable HTTP. Its `annotations` are only used with `trusted: true`. */
export interface McpHttpServerConfig extends Pick<McpOptions, "url" | "headers" | "trusted">, UnreadServer {
  readonly type: "http";
}

/**
 * A server that is a process. looplet does not start it: its status is `failed`, a warning says so, and the query
 * continues.
 */
export interface McpStdioServerConfig extends Omit<UnreadServer, "tools"> {
  readonly type?: "stdio" | undefined;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
}

/**
 * A server with the SSE transport from before 2025. Its status is `failed`, with a warning, and the query continues.
 */
export interface McpSSEServerConfig extends UnreadServer {
  readonly type: "sse";
  readonly url: string;
  readonly headers?: { readonly [name: string]: string } | undefined;
}

export type McpServerConfig = SdkMcpServer | McpHttpServerConfig | McpStdioServerConfig | McpSSEServerConfig;

/** A server that is reached with the signed-in account of its vendor. looplet supports none. */
export interface McpClaudeAIProxyServerConfig {
  readonly type: "claudeai-proxy";
  readonly url: string;
  readonly id: string;
  readonly timeout?: number;
}

/** A server in the options of an agent. */
export type McpServerConfigForProcessTransport = McpServerConfig;

/** A server in a status. */
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig;

/** Servers of an agent: the name of one of `mcpServers`, or its own servers. */
export type AgentMcpServerSpec = string | McpServers;

export interface McpServers {
  readonly [name: string]: McpServerConfig;
}

/** A tool of a server, by the name that the model gets. */
export interface ServerTool extends Pick<SdkMcpToolDefinition, "searchHint" | "alwaysLoad"> {
  readonly name: string;
  readonly tool: Tool;
}

/** @throws TypeError that names the server */
export function checkServers(servers: McpServers): void {
  const parts = new Map<string, string>();
  for (const [name, config] of Object.entries(servers)) {
    const field = `query: options.mcpServers.${name}`;
    const part = serverPart(name, field);
    const other = parts.get(part);
    if (other !== undefined)
      throw new TypeError(`${field} has the same name for tools as "${other}": mcp__${part}__…; rename one`);
    parts.set(part, name);
    const { type = "stdio", ...more } = joined(config as object) as { readonly [field: string]: unknown };
    const isFine =
      type === "sdk"
        ? Array.isArray(more["tools"])
        : type === "stdio"
          ? typeof more["command"] === "string"
          : (type === "http" || type === "sse") && typeof more["url"] === "string";
    if (!isFine)
      throw new TypeError(`${field} needs what createSdkMcpServer returns, or { type: "http", url }`);
  }
}

/** The tools of the servers in the process. */
export function toolsOf(servers: McpServers): ServerTool[] {
  return Object.entries(servers).flatMap(([server, config]) =>
    config.type !== "sdk"
      ? []
      : config.tools.map((definition) => ({
          ...definition,
          name: `mcp__${serverPart(server, "query")}__${definition.name}`,
          tool: toolOf(definition),
        })),
  );
}

/** A server with its state. looplet sets `name` and `status`. */
export interface McpServerStatus {
  readonly name: string;
  /** looplet says `connected`, `failed` or `needs-auth`. */
  readonly status: "connected" | "failed" | "needs-auth" | "pending" | "disabled";
  readonly serverInfo?: { name: string; version: string };
  readonly error?: string;
  readonly config?: McpServerStatusConfig;
  readonly scope?: string;
  readonly source?: string;
  readonly tools?: {
    name: string;
    description?: string;
    annotations?: { readOnly?: boolean; destructive?: boolean; openWorld?: boolean };
    _meta?: Record<string, unknown>;
  }[];
}

/** What was reached of the servers beyond the process. */
export interface Reached {
  readonly statuses: McpServerStatus[];
  readonly tools: readonly ServerTool[];
  readonly clients: readonly McpClient[];
  /** Why others were not reached, by their names. */
  readonly errors: { readonly [name: string]: string };
}

/** What a server needs of the user. `serverName` is its name in `mcpServers`. */
export type ElicitationRequest = McpElicitation & {
  readonly serverName: string;
  /** Not set, as are the fields below. */
  readonly elicitationId?: string;
  readonly title?: string;
  readonly displayName?: string;
  readonly description?: string;
};

export type ElicitationResult = McpElicitationAnswer;

/** Contract: called when a server needs something of the user in a call. `null` cancels. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { readonly signal: HostAbortSignal; readonly requestId: string },
) => ElicitationResult | null | PromiseLike<ElicitationResult | null>;

/** looplet's own name of {@link OnElicitation}. */
export type OnServerElicitation = OnElicitation;

const CANCELLED = { action: "cancel" } as const;

let elicitations = 0;

/** Connects to all servers in parallel. One that fails is reported, and does not affect the others. */
export async function reach(
  servers: McpServers,
  {
    onElicitation,
    ...options
  }: Pick<McpOptions, "signal"> & {
    readonly onElicitation: OnServerElicitation | undefined;
    readonly fetch: McpFetch | undefined;
  },
): Promise<Reached> {
  const statuses: McpServerStatus[] = [];
  const tools: ServerTool[] = [];
  const clients: McpClient[] = [];
  const errors: Record<string, string> = {};
  const connect = async (name: string, { url, headers, trusted }: McpHttpServerConfig): Promise<void> => {
    try {
      const ask: McpOptions["onElicitation"] =
        onElicitation &&
        (async (request, more) => {
          const requestId = `elicitation_${(elicitations += 1)}`;
          return (await onElicitation({ ...request, serverName: name }, { ...more, requestId })) ?? CANCELLED;
        });
      const client = await connectMcp({ ...options, url, headers, trusted, onElicitation: ask });
      clients.push(client);
      for (const [own, tool] of Object.entries(await client.tools(name))) tools.push({ name: own, tool });
      statuses.push({ name, status: "connected" });
    } catch (error) {
      const needsAuth = error instanceof McpError && error.code === "needs_auth";
      statuses.push({ name, status: needsAuth ? "needs-auth" : "failed" });
      errors[name] = error instanceof Error ? error.message : String(error);
    }
  };
  const names = Object.keys(servers);
  await Promise.all(
    Object.entries(servers).map(([name, given]) => {
      const config = joined(given);
      if (config.type === "http") return connect(name, config);
      if (config.type !== "sdk")
        errors[name] =
          config.type === "sse"
            ? 'It needs the type "http": SSE servers are of before 2025.'
            : "It is a process, which nothing here starts: reach it by http.";
      statuses.push({ name, status: config.type === "sdk" ? "connected" : "failed" });
      return undefined;
    }),
  );
  // The order of the answers must not change the requests.
  const placeOf = ({ name }: { readonly name: string }): number =>
    names.findIndex((server) => name === server || name.startsWith(`mcp__${serverPart(server, "query")}__`));
  const inOrder = <T extends { readonly name: string }>(items: T[]): T[] =>
    items.sort((one, other) => placeOf(one) - placeOf(other));
  return { statuses: inOrder(statuses), tools: inOrder(tools), clients, errors };
}

function toolOf({ description, inputSchema, handler, annotations }: SdkMcpToolDefinition<any>): Tool {
  return looplet({
    description,
    inputSchema: isShape(inputSchema) ? schemaOfShape(inputSchema) : inputSchema,
    ...(annotations === undefined ? {} : { annotations }),
    ...(annotations?.readOnly === undefined ? {} : { readOnly: annotations.readOnly }),
    execute: async (input: unknown, { signal, toolCallId }) => {
      const result = await handler(input, { signal, toolUseId: toolCallId });
      // A handler may return nothing; `createAgent` decides what the model reads then.
      if (typeof result !== "object" || result?.isError !== true) return result;
      // A handler in JavaScript may leave the content out, or give a text.
      const blocks: unknown = result.content;
      const texts = Array.isArray(blocks) ? blocks.map((block) => textOf(block?.text)) : [textOf(blocks)];
      const message = texts.filter((text) => text !== "").join("\n") || "The tool failed.";
      throw new ToolError({ code: "tool_failed", message, recoverable: true });
    },
  }) as Tool;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
