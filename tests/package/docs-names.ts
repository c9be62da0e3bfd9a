// What the examples of README.md and docs/ take for granted: looplet's names, which an earlier block of the page has
// imported, and the reader's own things. An example may use nothing else without importing or declaring it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as looplet from "looplet";

const { createAgent, tool, anthropic } = looplet;
/** How the reader's own functions were called since `fresh`, by name. */
export let calls: { [name: string]: unknown[][] } = {};
const note =
  (name: string) =>
  (...args: any[]): any =>
    void (calls[name] ??= []).push(args);

const inputSchema = {
  type: "object",
  properties: { count: { type: "integer" }, city: { type: "string" } },
} as const;
const lookup = tool({
  description: "Looks something up",
  inputSchema,
  readOnly: true,
  execute: () => "found",
});
const model = anthropic("practice", { apiKey: "key" });
// Rules of permission look at a field that the schema has.
const ruled = { ...lookup, ruleSubject: "city" };
const tools = { Read: ruled, Bash: ruled, WebFetch: { ...ruled, access: "fetch" as const } };
const agent = createAgent({ model, tools });

const names = {
  createAgent,
  tool,
  anthropic,
  ToolError: looplet.ToolError,
  bedrock: looplet.bedrock,
  compatible: looplet.compatible,
  custom: looplet.custom,
  gemini: looplet.gemini,
  openaiChat: looplet.openaiChat,

  apiKey: "key",
  otherKey: "key",
  thirdKey: "key",
  model,
  small: model,
  large: model,
  agent,
  tools,
  system: "You help.",
  description: "Searches",
  inputSchema,
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const,
  search: lookup,
  readPage: lookup,
  refund: lookup,
  weather: lookup,
  prompt: "What is 17 * 23?",
  history: [] as looplet.Message[],
  wasm: readFileSync(fileURLToPath(import.meta.resolve("looplet/looplet.wasm"))),
  modelIdOrArn: "amazon.nova-pro-v1:0",
  env: { AI: { run: async () => ({ response: "Hi from a Worker" }) } },
  bar: { value: 0 },
  file: { write: note("file.write") },
  database: { insert: note("database.insert") },
  client: { callTool: note("client.callTool") },
  remote: { call: note("remote.call") },
  audit: note("audit"),
  save: note("save"),
  show: note("show"),
  card: (id: string) => (note("card")(id), { add: note("card.add") }),
  confirm: (_: string) => true,
  isHarmful: async (_: unknown) => false,
  load: async (_customer: string, _count: number, _options: { signal: AbortSignal }) => [] as object[],
  fetchCredentials: async () => ({ accessKeyId: "id", secretAccessKey: "secret" }),
  CreateMLCEngine: async (model: string) => ({
    chat: {
      completions: {
        create: async function* (_: any) {
          yield { choices: [{ index: 0, delta: { content: `Hi from ${model}` }, finish_reason: null }] };
          yield { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
        } as (_: any) => any,
      },
    },
    interruptGenerate: note("interruptGenerate"),
  }),
};
type Names = typeof names;

declare global {
  var createAgent: Names["createAgent"];
  var tool: Names["tool"];
  var anthropic: Names["anthropic"];
  var ToolError: Names["ToolError"];
  var bedrock: Names["bedrock"];
  var compatible: Names["compatible"];
  var custom: Names["custom"];
  var gemini: Names["gemini"];
  var openaiChat: Names["openaiChat"];
  var apiKey: Names["apiKey"];
  var otherKey: Names["otherKey"];
  var thirdKey: Names["thirdKey"];
  var model: Names["model"];
  var small: Names["small"];
  var large: Names["large"];
  var agent: Names["agent"];
  var tools: Names["tools"];
  var system: Names["system"];
  var description: Names["description"];
  var inputSchema: Names["inputSchema"];
  var schema: Names["schema"];
  var search: Names["search"];
  var readPage: Names["readPage"];
  var refund: Names["refund"];
  var weather: Names["weather"];
  var prompt: Names["prompt"];
  var history: Names["history"];
  var wasm: Names["wasm"];
  var modelIdOrArn: Names["modelIdOrArn"];
  var env: Names["env"];
  var bar: Names["bar"];
  var file: Names["file"];
  var database: Names["database"];
  var client: Names["client"];
  var remote: Names["remote"];
  var audit: Names["audit"];
  var save: Names["save"];
  var show: Names["show"];
  var card: Names["card"];
  var confirm: Names["confirm"];
  var isHarmful: Names["isHarmful"];
  var load: Names["load"];
  var fetchCredentials: Names["fetchCredentials"];
  var CreateMLCEngine: Names["CreateMLCEngine"];
  /** A run that goes on, and a question that it has asked. */
  var run: looplet.Run;
  var event: looplet.RunEventOf<"question">;
}

/** The names for the next example, which nobody has called yet. */
export function fresh(): void {
  calls = {};
  Object.assign(globalThis, names);
}
