// @ts-check
// A server route of the AI SDK, ported: the page still uses `useChat`. The route accepts its UIMessages and answers
// with the UI message stream (version 1), including approvals, so only this file changes.
//
//   before: streamText({ model, system, messages: await convertToModelMessages(messages), tools,
//             stopWhen: isStepCount(5), abortSignal: request.signal }).toUIMessageStreamResponse()
//
//   node examples/ported/ai-sdk-route.mjs "What is the weather in Paris?"
import { LoopletError, createAgent, tool } from "looplet";
import { LoopletChatTransport, toUIMessageStreamResponse } from "looplet/ai-sdk";
import { memoryStore } from "looplet/stores";
import { claude, isMain } from "./model.mjs";

const weather = tool({
  description: "Current weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => ({ city, sky: "rain", celsius: 12 }),
});

const book = tool({
  description: "Books a hotel in a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  needsApproval: true,
  execute: ({ city }) => ({ booked: `Hotel ${city}` }),
});

// With a store that all processes of the server share, any of them can resume a run that waits for the user.
const store = memoryStore();

const newAgent = () =>
  createAgent({
    model: claude([
      { text: "I look.", toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
      { text: "It rains in Paris." },
    ]),
    system: "You answer with facts.",
    tools: { weather, book },
    limits: { maxIterations: 5 },
    timeouts: { permissionMs: 600_000, toolMs: 30_000 },
    store,
  });

/** The route of one process of the server. `close` releases its runs, so that another process can resume them. */
export function route() {
  const agent = newAgent();
  const transport = new LoopletChatTransport(agent, { version: 6 });
  /** @param {Request} request @returns {Promise<Response>} */
  const post = async (request) => {
    try {
      const { id: chatId, ...rest } = /** @type {any} */ (await request.json());
      return toUIMessageStreamResponse(await transport.sendMessages({ chatId, ...rest }));
    } catch (error) {
      if (!(error instanceof LoopletError || error instanceof SyntaxError)) throw error;
      return Response.json({ error: error.message }, { status: 400 });
    }
  };
  return Object.assign(post, { close: () => agent.close({ recoverable: true }) });
}

export const POST = route();

if (isMain(import.meta.url)) {
  const text = process.argv[2] ?? "What is the weather in Paris?";
  const messages = [{ id: "1", role: "user", parts: [{ type: "text", text }] }];
  const body = JSON.stringify({ id: "chat", trigger: "submit-message", messages });
  const response = await POST(new Request("http://localhost/api/chat", { method: "POST", body }));
  process.stdout.write(await response.text());
}
