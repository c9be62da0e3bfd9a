// Servers of the official package, behind a `fetch`.
import {
  McpServer,
  WebStandardStreamableHTTPServerTransport,
  acceptedContent,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import type { McpFetch } from "looplet/mcp";
import { z } from "zod";

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

/** A server with a tool of each kind. `onCancel` hears of calls that were cancelled. */
export function server(onCancel: () => void = () => {}): McpServer {
  const made = new McpServer({ name: "files", version: "1.0.0" }, { instructions: "Read before you write." });
  const path = z.object({ path: z.string() });
  made.registerTool(
    "read",
    { description: "Reads a file", inputSchema: path, annotations: { readOnlyHint: true } },
    ({ path }) =>
      path === "none" ? { ...text("There is no such file."), isError: true } : text(`The text of ${path}`),
  );
  made.registerTool("docs.search", { description: "Searches" }, () => text("found"));
  made.registerTool(
    "tenant",
    {
      description: "Says who asks",
      inputSchema: z.object({ tenant: z.string().meta({ "x-mcp-header": "Tenant" }) }),
    },
    ({ tenant }) => text(`You are ${tenant}`),
  );
  made.registerTool(
    "slow",
    { description: "Takes long", inputSchema: z.object({}) },
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2 },
        });
      await new Promise((ended) => mcpReq.signal.addEventListener("abort", ended));
      onCancel();
      return text("too late");
    },
  );
  return made;
}

const confirmation = z.object({ sure: z.boolean() });

/** A server whose tool asks the user in the middle of a call, in the words of both generations. */
export function asking(isModern: boolean): McpServer {
  const made = new McpServer({ name: "asking", version: "1" });
  const question = {
    message: "Really?",
    requestedSchema: {
      type: "object" as const,
      properties: { sure: { type: "boolean" as const } },
      required: ["sure"],
    },
  };
  made.registerTool(
    "remove",
    { description: "Removes", inputSchema: z.object({}) },
    async (_, { mcpReq }) => {
      if (!isModern) {
        const answer = await made.server.elicitInput(question, { relatedRequestId: mcpReq.id });
        return text(`${answer.action} ${JSON.stringify(answer.content ?? {})}`);
      }
      if (mcpReq.inputResponses === undefined)
        return inputRequired({ inputRequests: { sure: inputRequired.elicit(question) } });
      const said = acceptedContent(mcpReq.inputResponses, "sure", confirmation);
      return text(said === undefined ? "decline {}" : `accept ${JSON.stringify(said)}`);
    },
  );
  return made;
}

/** What a client sends and gets, with each request noted. */
export interface Noted {
  readonly fetch: McpFetch;
  readonly requests: { method: string; headers: Headers; body: any }[];
}

/** A server of both generations without sessions, or of the newer one alone. */
export function stateless(make: () => McpServer, legacy: "stateless" | "reject" = "stateless"): Noted {
  const handler = createMcpHandler(make, { legacy });
  return noted((request) => handler.fetch(request));
}

/** A server of 2025, with a session for each client. `end` ends them all. */
export function sessionful(make: () => McpServer): Noted & { end(): void } {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const answer = async (request: Request): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response("There is no such session.", { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await make().connect(transport);
    return transport.handleRequest(request);
  };
  return { ...noted(answer), end: () => sessions.clear() };
}

function noted(answer: (request: Request) => Promise<Response>): Noted {
  const requests: Noted["requests"] = [];
  const fetch: McpFetch = async (url, init) => {
    const request = new Request(url, init as RequestInit);
    const body = init.body === undefined ? undefined : JSON.parse(init.body);
    requests.push({ method: init.method, headers: request.headers, body });
    return answer(request);
  };
  return { fetch, requests };
}
