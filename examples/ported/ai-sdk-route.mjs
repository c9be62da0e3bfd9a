// @ts-check
// A server route of the AI SDK, ported: the page keeps its `useChat`. The route takes its UIMessages and answers with the
// UI message stream (version 1), so that nothing changes but this file.
//
//   before: streamText({ model, system, messages: await convertToModelMessages(messages), tools,
//             stopWhen: isStepCount(5), abortSignal: request.signal }).toUIMessageStreamResponse()
//
//   node examples/ported/ai-sdk-route.mjs "What is the weather in Paris?"
import { LoopletError, createAgent, tool } from "looplet";
import { claude, isMain } from "./model.mjs";

const weather = tool({
  description: "Current weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => ({ city, sky: "rain", celsius: 12 }),
});

/** @param {Request} request @returns {Promise<Response>} */
export async function POST(request) {
  try {
    const { messages } = /** @type {any} */ (await request.json());
    const agent = createAgent({
      model: claude([
        { text: "I look.", toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
        { text: "It rains in Paris." },
      ]),
      system: "You answer with facts.",
      tools: { weather },
      maxIterations: 5,
    });
    const run = agent.run([], { messages: fromUi(messages), signal: request.signal });
    return new Response(uiStream(run), {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
      },
    });
  } catch (error) {
    if (!(error instanceof LoopletError || error instanceof SyntaxError)) throw error;
    return Response.json({ error: error.message }, { status: 400 });
  }
}

/**
 * UIMessages as looplet's messages: what people wrote, and each step of the model with the results of its calls.
 *
 * @param {any[]} messages
 * @returns {import("looplet").Message[]}
 */
function fromUi(messages) {
  if (!Array.isArray(messages)) throw new SyntaxError("The body needs `messages`, a list of UIMessages");
  return messages.flatMap(({ role, parts }) => {
    if (role === "user") return [{ role, content: parts.filter(isText).map(textBlock) }];
    return steps(parts).flatMap((step) => {
      const calls = step.filter(({ type }) => type.startsWith("tool-"));
      const made = calls.map((part) => ({
        type: "tool_call",
        id: part.toolCallId,
        name: part.type.slice("tool-".length),
        input: part.input,
      }));
      const results = calls.map(({ toolCallId: callId, output, errorText }) => ({
        type: "tool_result",
        callId,
        content: [textBlock({ text: errorText ?? JSON.stringify(output) })],
        ...(errorText && { isError: true }),
      }));
      /** @type {any[]} */
      const said = [{ role: "assistant", content: [...step.filter(isText).map(textBlock), ...made] }];
      return results.length === 0 ? said : [...said, { role: "user", content: results }];
    });
  });
}

/** @param {any} part */
const isText = ({ type, text }) => type === "text" && text !== "";
/** @param {{ text: string }} part @returns {{ type: "text", text: string }} */
const textBlock = ({ text }) => ({ type: "text", text });

/** The parts of each step: a `step-start` begins one. @param {any[]} parts @returns {any[][]} */
function steps(parts) {
  /** @type {any[][]} */
  const begun = [[]];
  for (const part of parts) {
    if (part.type === "step-start") begun.push([]);
    else begun.at(-1)?.push(part);
  }
  return begun.filter((step) => step.length > 0);
}

/** @param {import("looplet").Run} run */
function uiStream(run) {
  const encoder = new TextEncoder();
  const events = run.events();
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await events.next();
        const chunks = done ? await ending(run) : chunksOf(value);
        const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), ...(done ? ["[DONE]"] : [])];
        for (const line of lines) controller.enqueue(encoder.encode(`data: ${line}\n\n`));
        if (done) return controller.close();
        if (lines.length > 0) return;
      }
    },
    cancel: () => run.abort("the page went away"),
  });
}

/** @param {import("looplet").RunEvent} event @returns {object[]} */
function chunksOf(event) {
  switch (event.type) {
    case "run-start":
      return [{ type: "start" }];
    case "iteration-start":
      return [{ type: "start-step" }];
    case "iteration-finish":
      return [{ type: "finish-step" }];
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
      return [{ type: event.type, id: idOf(event) }];
    case "text-delta":
    case "reasoning-delta":
      return [{ type: event.type, id: idOf(event), delta: event.text }];
    case "tool-call": {
      const { toolCallId, toolName, input } = event;
      return [{ type: "tool-input-available", toolCallId, toolName, input }];
    }
    case "tool-result":
      return [{ type: "tool-output-available", toolCallId: event.toolCallId, output: event.output }];
    case "tool-error":
      return [{ type: "tool-output-error", toolCallId: event.toolCallId, errorText: event.error.message }];
    case "abort":
      return [{ type: "abort" }];
    default:
      return [];
  }
}

/** Blocks are counted anew in each iteration; the page knows its parts by these ids. @param {any} event */
const idOf = ({ iteration, block }) => `${iteration}-${block}`;

/** @param {import("looplet").Run} run */
async function ending(run) {
  const { outcome, error } = await run.result;
  return outcome === "failed"
    ? [{ type: "error", errorText: error?.message ?? "The run has failed" }]
    : [{ type: "finish" }];
}

if (isMain(import.meta.url)) {
  const text = process.argv[2] ?? "What is the weather in Paris?";
  const body = JSON.stringify({ messages: [{ id: "1", role: "user", parts: [{ type: "text", text }] }] });
  const response = await POST(new Request("http://localhost/api/chat", { method: "POST", body }));
  process.stdout.write(await response.text());
}
