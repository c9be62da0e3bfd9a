/** pi agent-core: its loop with a plain event sink, without the session and the queues of its Agent class. */
import { runAgentLoop } from "@earendil-works/pi-agent-core";

export const title = "pi agent-core";
export const isPeer = true;

/** It parses the arguments again with every delta: 256 KiB take 16 times what 64 KiB take. */
export const slowBeyond = { W2: "W2-64k" };

const vendors = {
  anthropic: {
    load: () => import("@earendil-works/pi-ai/api/anthropic-messages"),
    id: "claude-sonnet-4-6",
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: "https://api.anthropic.com",
  },
  "openai-chat": {
    load: () => import("@earendil-works/pi-ai/api/openai-completions"),
    id: "gpt-5",
    api: "openai-completions",
    provider: "openai",
    baseUrl: "https://api.openai.com/v1",
  },
};

export async function run(task, fetch, { onText, tools, wire }) {
  const { load, ...vendor } = vendors[wire];
  const { streamSimple } = await load();
  const model = {
    ...vendor,
    name: vendor.id,
    reasoning: false,
    input: ["text"],
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    contextWindow: 100_000_000,
    maxTokens: 4096,
  };
  const config = { model, convertToLlm: (messages) => messages, apiKey: "x", fetch, maxRetries: 0 };
  const emit = (event) => {
    if (event.type !== "message_update") return;
    if (event.assistantMessageEvent.type === "text_delta") onText(event.assistantMessageEvent.delta);
  };
  const prompt = { role: "user", content: task.prompt, timestamp: Date.now() };
  const context = { messages: [], tools: tools.map(toolOf) };
  const last = (await runAgentLoop([prompt], context, config, emit, undefined, streamSimple)).at(-1);
  if (last.stopReason !== "stop") throw new Error(last.errorMessage ?? last.stopReason);
  return { text: last.content.map((block) => block.text ?? "").join("") };
}

function toolOf({ name, description, inputSchema, execute }) {
  return {
    name,
    label: name,
    description,
    parameters: inputSchema,
    execute: async (_id, input) => ({
      content: [{ type: "text", text: await execute(input) }],
      details: undefined,
    }),
  };
}
