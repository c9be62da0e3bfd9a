// An agent at one URL: `POST /` with `{ "prompt": "…" }` answers with the events of the run as they happen
// (`text/event-stream`). The last one is `result`. Send its `messages` with the next request to continue the
// conversation. When the client disconnects, the run is aborted, and with it the request to the vendor.
import { LoopletError, anthropic, createAgent, tool } from "looplet";
import { practice } from "looplet/practice";
import { historyFromPage, promptFromPage } from "looplet/server";

const apiKey = Deno.env.get("ANTHROPIC_API_KEY");

const agent = createAgent({
  model: anthropic(
    Deno.env.get("MODEL") ?? "claude-sonnet-4-6",
    // Without a key the practice provider answers.
    apiKey ? { apiKey } : { fetch: practice() },
  ),
  tools: {
    time: tool({
      description: "Current date and time in a time zone.",
      inputSchema: {
        type: "object",
        properties: { timeZone: { type: "string", description: "IANA time zone, for example Asia/Tokyo" } },
        required: ["timeZone"],
      },
      readOnly: true,
      execute: ({ timeZone }) =>
        new Date().toLocaleString("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" }),
    }),
  },
  limits: { maxIterations: 10 },
  timeouts: { totalMs: 120_000 },
});

Deno.serve(async (request) => {
  if (request.method !== "POST")
    return new Response('POST {"prompt": "What time is it in Tokyo?"} here.\n', {
      status: 405,
      headers: { allow: "POST" },
    });
  try {
    // The client is not trusted, so its text and media go to the vendor, and no blocks of the vendor's own.
    const { prompt, messages } = (await request.json()) ?? {};
    const run = agent.run(promptFromPage(prompt), { messages: historyFromPage(messages ?? []) });
    return new Response(eventStream(run), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
    });
  } catch (error) {
    if (error instanceof LoopletError || error instanceof SyntaxError)
      return Response.json({ error: error.message }, { status: 400 });
    throw error;
  }
});

/**
 * The run as server-sent events. A stream that is not read holds the run's events back; one that is cancelled ends
 * it.
 *
 * @param {import("looplet").Run} run
 * @returns {ReadableStream<Uint8Array>}
 */
function eventStream(run) {
  const encoder = new TextEncoder();
  const events = run.events();
  /** @param {string} type @param {unknown} data */
  const encode = (type, data) => encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
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
