// The five systems by name on the practice provider, each adding 19 and 23.
import { anthropic } from "looplet/external";
import { scripted } from "looplet/practice";
import { initSession, makeInvokeModel, response, runSession } from "looplet/guide";
import { createSdkMcpServer, query, tool } from "looplet/agent-sdk";
import { runProduction } from "looplet/production";
import { loadPrompty, turn } from "looplet/prompty";
import { agentLoop } from "looplet/sprout";
const turns = () =>
  scripted([{ toolCalls: [{ name: "add", input: { a: 19, b: 23 } }] }, { text: "It is 42." }]);
export async function facades() {
  const tools = [
    { name: "add", description: "Adds", input_schema: { type: "object" }, execute: ({ a, b }) => a + b },
  ];
  const { finalText, toolCalls } = await agentLoop({
    systemPrompt: "Add.",
    userMessage: "19 + 23?",
    tools,
    host: { fetch: turns() },
  });
  const session = initSession("Add.", "19 + 23?");
  const invoke = makeInvokeModel(anthropic("m", { fetch: turns() }));
  await runSession(invoke, tools, session, { add: ({ a, b }) => String(a + b) });
  const add = {
    name: "add",
    description: "Adds",
    inputSchema: { type: "object" },
    execute: ({ a, b }) => a + b,
  };
  const { stopReason } = await runProduction({
    model: "m",
    prompt: "19 + 23?",
    tools: [add],
    host: { fetch: turns() },
  }).result;
  const file = "---\nmodel: { id: m, provider: anthropic }\n---\nuser:\n{{question}}";
  const host = { fetch: turns() };
  const said = await turn(
    await loadPrompty(file),
    { question: "19 + 23?" },
    { add: ({ a, b }) => a + b },
    { host },
  );
  const sdkTool = tool("add", "Adds", { type: "object" }, ({ a, b }) => String(a + b));
  const sdkTurns = scripted([
    { toolCalls: [{ name: "mcp__sums__add", input: { a: 19, b: 23 } }] },
    { text: "It is 42." },
  ]);
  const options = {
    model: "m",
    mcpServers: { sums: createSdkMcpServer({ name: "sums", tools: [sdkTool] }) },
    allowedTools: ["mcp__sums__add"],
    host: { fetch: sdkTurns },
  };
  const types = [];
  for await (const message of query({ prompt: "19 + 23?", options }))
    types.push(message.result ?? message.type);
  const { content } = response(session);
  const outputs = [finalText, toolCalls[0].result, content, session.messages[3].output, stopReason, said];
  return [...outputs, ...types].join(" ");
}
