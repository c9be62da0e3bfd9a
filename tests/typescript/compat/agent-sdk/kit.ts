// Queries on scripted answers, with a server of three tools.
// The entry brings the engine.
import "looplet";
import {
  createSdkMcpServer,
  query,
  tool,
  type Options,
  type SDKMessage,
  type SDKResultMessage,
  type SDKUserInput,
} from "looplet/agent-sdk";
import { scripted } from "looplet/practice";

export type Turns = Parameters<typeof scripted>[0];

export const anything = { type: "object" } as const;

/** The options of a query on scripted answers. Its server `app` has the tools Bash, Read and Edit. */
export function scene(turns: Turns, more: Partial<Options> = {}) {
  const calls: string[] = [];
  const fetch = scripted(turns);
  const made = (name: string, readOnlyHint = false) =>
    tool(
      name,
      name,
      anything,
      (input) => {
        calls.push(`${name} ${JSON.stringify(input)}`);
        return `${name} done`;
      },
      { annotations: { readOnlyHint } },
    );
  const options: Options = {
    model: "claude-sonnet-4-6",
    mcpServers: {
      app: createSdkMcpServer({ name: "app", tools: [made("Bash"), made("Read", true), made("Edit")] }),
    },
    allowedTools: ["mcp__app__Bash", "mcp__app__Read", "mcp__app__Edit"],
    ...more,
    host: { fetch, apiKey: "k", ...more.host },
  };
  return { options, calls, fetch };
}

export const use = (name: string, input: object = {}) => ({ name: `mcp__app__${name}`, input });

/** The page's example: a command, two files, an edit with another command, and the answer. */
export const repair: Turns = [
  { text: "I run the tests.", toolCalls: [use("Bash", { command: "npm test" })] },
  { toolCalls: [use("Read", { file_path: "auth.ts" }), use("Read", { file_path: "auth.test.ts" })] },
  { toolCalls: [use("Edit"), use("Bash", { command: "npm test" })] },
  { text: "Fixed the auth bug, all three tests pass now." },
];

export async function all(
  prompt: string | AsyncIterable<SDKUserInput>,
  options: Options,
): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of query({ prompt, options })) messages.push(message);
  return messages;
}

export const kinds = (messages: readonly SDKMessage[]) =>
  messages.map((message) => ("subtype" in message ? `${message.type}/${message.subtype}` : message.type));

export const resultOf = (messages: readonly SDKMessage[]) =>
  messages.find(({ type }) => type === "result") as SDKResultMessage;
