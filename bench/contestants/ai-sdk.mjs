/** Vercel's AI SDK: `streamText` with its own provider package for the wire, read through `textStream`. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

export const title = "AI SDK";
export const isPeer = true;

export async function run(task, fetch, { onText, tools, wire }) {
  let failure;
  const result = streamText({
    model: modelOf(wire, fetch),
    prompt: task.prompt,
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema, execute }) => [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema), execute }),
      ]),
    ),
    stopWhen: isStepCount(task.requests),
    maxRetries: 0,
    onError: ({ error }) => {
      failure = error;
    },
  });
  for await (const delta of result.textStream) onText(delta);
  if (failure !== undefined) throw failure;
  return { text: await result.text };
}

function modelOf(wire, fetch) {
  if (wire === "anthropic") return createAnthropic({ apiKey: "x", fetch })("claude-sonnet-4-6");
  const options = {
    name: "openai",
    baseURL: "https://api.openai.com/v1",
    apiKey: "x",
    includeUsage: true,
    fetch,
  };
  return createOpenAICompatible(options)("gpt-5");
}
