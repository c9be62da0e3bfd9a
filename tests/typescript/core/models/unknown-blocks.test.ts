/** Blocks of an answer that looplet does not know go back to their vendor, and make no later request fail. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openai, type Fetch, type Model } from "looplet";

const KEY = { apiKey: "sk-0123456789abcdef" };
const event = (one: { type: string; [field: string]: unknown }): string =>
  `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;

const claude = (block: unknown): string =>
  event({ type: "message_start", message: { id: "m", role: "assistant", usage: { input_tokens: 1 } } }) +
  event({ type: "content_block_start", index: 0, content_block: block }) +
  event({ type: "content_block_stop", index: 0 }) +
  event({ type: "content_block_start", index: 1, content_block: { type: "text", text: "Hi." } }) +
  event({ type: "content_block_stop", index: 1 }) +
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
  event({ type: "message_stop" });

const text = { type: "message", id: "t", role: "assistant", content: [{ type: "output_text", text: "Hi." }] };
const responses = (item: unknown): string =>
  [item, text]
    .map((one, output_index) => event({ type: "response.output_item.done", output_index, item: one }))
    .join("") +
  event({
    type: "response.completed",
    response: {
      id: "r",
      status: "completed",
      output: [item, text],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });

/** A model whose every answer is this stream, and the bodies that it was sent. */
function answering(make: (name: string, options: object) => Model, stream: string) {
  const sent: any[] = [];
  const fetch = (async (_: string, { body }: { body: Uint8Array }) => {
    sent.push(JSON.parse(new TextDecoder().decode(body)));
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  }) as unknown as Fetch;
  return { agent: createAgent({ model: make("m", { ...KEY, fetch }) }), sent };
}

/** The second request to a vendor that has answered so, and the one to another vendor. */
async function laterRequests(
  vendor: "anthropic" | "openai",
  block: unknown,
): Promise<[own: any, other: any]> {
  const isClaude = vendor === "anthropic";
  const own = answering(isClaude ? anthropic : openai, isClaude ? claude(block) : responses(block));
  const { messages, outcome } = await own.agent.run("Hello").result;
  expect(outcome).toBe("completed");
  await own.agent.run("More", { messages }).result;
  const other = answering(
    isClaude ? openai : anthropic,
    isClaude ? responses(text) : claude({ type: "text", text: "" }),
  );
  await other.agent.run("More", { messages }).result;
  return [isClaude ? own.sent[1].messages : own.sent[1].input, other.sent[0]];
}

describe.each(["anthropic", "openai"] as const)("an unknown block of %s", (vendor) => {
  it("goes back to the vendor as it is, and to no other", { timeout: 30_000 }, async () => {
    const [own, other] = await laterRequests(vendor, { type: "brand_new", id: "x", odd: [1] });
    expect(JSON.stringify(own)).toContain('{"type":"brand_new","id":"x","odd":[1]}');
    expect(JSON.stringify(other)).not.toContain("brand_new");
    expect(JSON.stringify(other)).toContain("Hi.");
  });

  it.each([
    [{ odd: 1 }],
    [{ type: 5, odd: 1 }],
    [{ type: null, odd: 1 }],
    [{ type: "", odd: 1 }],
    [7],
    ["odd"],
    [[]],
    [null],
  ])("that is damaged goes to nobody: %j", async (block) => {
    const [own, other] = await laterRequests(vendor, block);
    const blocks = vendor === "anthropic" ? own.flatMap(({ content }: any) => content) : own;
    for (const one of blocks)
      expect(one).toEqual(
        vendor === "anthropic"
          ? expect.objectContaining({ type: "text" })
          : expect.objectContaining({ role: expect.any(String) }),
      );
    expect(JSON.stringify([own, other])).not.toContain("odd");
    expect(JSON.stringify(own)).toContain("Hi.");
  });
});
