/** A chat with one Durable Object per conversation. `/` is the page, `/sessions/<name>/…` a conversation. */
import { anthropic, createAgent, tool, type Store } from "looplet";
import { AgentObject, type DurableObjectStateLike } from "looplet/cloudflare";
import { practice } from "looplet/practice";
import { page } from "./page";

interface Env {
  SESSIONS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
  /** Without it the practice provider answers. */
  ANTHROPIC_API_KEY?: string;
}

const time = tool({
  description: "Current date and time in a time zone.",
  inputSchema: {
    type: "object",
    properties: { timeZone: { type: "string", description: "IANA time zone, for example Asia/Tokyo" } },
    required: ["timeZone"],
  },
  needsApproval: true,
  execute: ({ timeZone }) =>
    new Date().toLocaleString("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" }),
});

export class Session extends AgentObject<Env> {
  constructor(ctx: DurableObjectStateLike, env: Env) {
    // No page of another origin may ask, with or without cookies.
    super(ctx, env, { allowedOrigins: [], base: /^\/sessions\/[^/]+$/ });
  }

  agent(store: Store) {
    const { ANTHROPIC_API_KEY: apiKey } = this.env;
    return createAgent({
      model: anthropic("claude-sonnet-4-6", apiKey ? { apiKey } : { fetch: practice() }),
      tools: { time },
      store,
      events: { messages: true },
      limits: { maxIterations: 10 },
      timeouts: { toolMs: 30_000 },
    });
  }
}

export default {
  fetch(request: Request, { SESSIONS }: Env): Response | Promise<Response> {
    const [, sessions, name] = new URL(request.url).pathname.split("/");
    // Whoever may use a conversation is decided here.
    if (sessions === "sessions" && name) return SESSIONS.get(SESSIONS.idFromName(name)).fetch(request);
    return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
  },
};
