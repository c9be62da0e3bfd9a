/** A model that thinks without a text reports how far it is, if its vendor can estimate that. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, type Fetch, type HttpModelOptions, type RunEvent } from "looplet";

const BETA = "thinking-token-count-2026-05-13";

const event = (one: { type: string; [field: string]: unknown }): string =>
  `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;
const delta = (delta: object): string => event({ type: "content_block_delta", index: 0, delta });

/** The stream of Anthropic's API with `display: "omitted"`. `@anthropic-ai/sdk` 1.14.0 describes its deltas. */
const STREAM = [
  event({ type: "message_start", message: { id: "m", role: "assistant", usage: { input_tokens: 9 } } }),
  event({
    type: "content_block_start",
    index: 0,
    content_block: { type: "thinking", thinking: "", signature: "" },
  }),
  ...[null, 50, 0, 100].map((estimated_tokens) =>
    delta({ type: "thinking_delta", thinking: "", estimated_tokens }),
  ),
  delta({ type: "signature_delta", signature: "c2ln" }),
  event({ type: "content_block_stop", index: 0 }),
  event({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
  event({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Four." } }),
  event({ type: "content_block_stop", index: 1 }),
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 170 } }),
  event({ type: "message_stop" }),
].join("");

/** A run on this model: its events, the texts of `onThinking`, the headers of its request and its result. */
async function ran(name: string, options: HttpModelOptions) {
  const events: RunEvent[] = [];
  const thoughts: string[] = [];
  let betas = "";
  const fetch = (async (_: string, { headers }: { headers: HeadersInit }) => {
    betas = new Headers(headers).get("anthropic-beta") ?? "";
    return new Response(STREAM, { headers: { "content-type": "text/event-stream" } });
  }) as unknown as Fetch;
  const model = anthropic(name, { apiKey: "k", fetch, ...options });
  const agent = createAgent({ model, retry: { maxRetries: 0, maxModelCallRetries: 0 } });
  const run = agent.run("2 + 2?", {
    onEvent: (event) => void events.push(event),
    onThinking: (text) => void thoughts.push(text),
  });
  return { result: await run.result, events, thoughts, betas };
}

const counts = (events: readonly RunEvent[]): number[] =>
  events.flatMap((event) => (event.type === "reasoning-progress" ? [event.estimatedTokens] : []));

const omitted = { type: "adaptive", display: "omitted" } as const;

describe("thinking without a text", () => {
  it("reports the tokens so far, between the start and the end of its block", async () => {
    const { result, events, thoughts, betas } = await ran("claude-opus-5-5", { thinking: omitted });
    expect(betas.split(",")).toContain(BETA);
    expect(counts(events)).toEqual([50, 150]);
    const types = events.map(({ type }) => type).filter((type) => type.startsWith("reasoning"));
    expect(types).toEqual(["reasoning-start", "reasoning-progress", "reasoning-progress", "reasoning-end"]);
    expect({ text: result.text, thoughts, used: result.usage?.outputTokens }).toEqual({
      text: "Four.",
      thoughts: [],
      used: 170,
    });
  });

  it.each<[string, string, HttpModelOptions]>([
    ["with the text of its thinking", "claude-opus-5-5", {}],
    ["that does not think", "claude-opus-5", { thinking: { type: "disabled" } }],
    ["that is not known to estimate", "claude-sonnet-4-6", { thinking: omitted }],
    ["that does not stream", "claude-opus-5-5", { thinking: omitted, stream: false }],
  ])("is not asked for of a model %s", async (_, name, options) => {
    expect((await ran(name, options)).betas).not.toContain(BETA);
  });
});
