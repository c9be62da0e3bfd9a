/**
 * An agent at one URL: `POST /` with `{ "prompt": "…" }` answers with the events of the run as they happen
 * (`text/event-stream`). The last one is `result`. Send its `messages` with the next request to continue the
 * conversation. When the client disconnects, the run is aborted, and with it the request to the vendor.
 */
import { LoopletError, anthropic, createAgent, tool, type Run } from "looplet";
import { practice } from "looplet/practice";
import { historyFromPage, promptFromPage } from "looplet/server";

/** Bindings of the Worker; the key is a secret: `npx wrangler secret put ANTHROPIC_API_KEY`. */
interface Env {
  /** Without it the practice provider answers. */
  ANTHROPIC_API_KEY?: string;
  /** Default `claude-sonnet-4-6`. */
  MODEL?: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST")
      return new Response('POST {"prompt": "What time is it in Tokyo?"} here.\n', {
        status: 405,
        headers: { allow: "POST" },
      });
    try {
      // The client is not trusted, so its text and media go to the vendor, and no blocks of the vendor's own.
      const { prompt, messages } = ((await request.json()) ?? {}) as { prompt: unknown; messages?: unknown };
      const run = agentFor(env).run(promptFromPage(prompt), { messages: historyFromPage(messages ?? []) });
      return new Response(eventStream(run), {
        headers: { "content-type": "text/event-stream", "cache-control": "no-store, no-transform" },
      });
    } catch (error) {
      if (error instanceof LoopletError || error instanceof SyntaxError)
        return Response.json({ error: error.message }, { status: 400 });
      throw error;
    }
  },
};

function agentFor(env: Env) {
  const model = env.MODEL ?? "claude-sonnet-4-6";
  return createAgent({
    model: anthropic(
      model,
      env.ANTHROPIC_API_KEY ? { apiKey: env.ANTHROPIC_API_KEY } : { fetch: practice() },
    ),
    tools: { time },
    limits: { maxIterations: 10 },
    timeouts: { totalMs: 120_000 },
  });
}

const time = tool({
  description: "Current date and time in a time zone.",
  inputSchema: {
    type: "object",
    properties: { timeZone: { type: "string", description: "IANA time zone, for example Asia/Tokyo" } },
    required: ["timeZone"],
  },
  readOnly: true,
  execute: ({ timeZone }) =>
    new Date().toLocaleString("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" }),
});

/** The run as server-sent events. A stream that is not read holds the run's events back; one that is cancelled ends it. */
function eventStream(run: Run): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = run.events();
  const encode = (type: string, data: unknown) =>
    encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next();
      if (!done) return controller.enqueue(encode(value.type, value));
      controller.enqueue(encode("result", await run.result));
      controller.close();
    },
    cancel: () => run.abort("the client went away"),
  });
}
