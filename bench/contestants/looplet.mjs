/** looplet as its README shows it: a callback for text, joined deltas. */
import { anthropic, createAgent, openaiChat, tool } from "looplet";

export const title = "looplet";

export async function run(task, fetch, options) {
  const run = start(task, fetch, options, { onText: options.onText });
  return settled(run);
}

/** `runOptions` go to `agent.run`, `agentOptions` to `createAgent`. */
export function start(task, fetch, { tools, wire }, runOptions = {}, agentOptions = {}) {
  const agent = createAgent({
    model:
      wire === "anthropic"
        ? anthropic("claude-sonnet-4-6", { apiKey: "x" })
        : openaiChat("gpt-5", { apiKey: "x" }),
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema, execute }) => [
        name,
        tool({ description, inputSchema, readOnly: true, execute }),
      ]),
    ),
    limits: { maxIterations: task.requests },
    fetch,
    ...agentOptions,
  });
  return agent.run(task.prompt, runOptions);
}

export async function settled(run) {
  const { outcome, stoppedBy, error, text } = await run.result;
  if (outcome !== "completed") throw new Error([outcome, stoppedBy, error?.code, error?.message].join(" "));
  return { text };
}
