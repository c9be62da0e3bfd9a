// What the examples of README.md and docs/ take for granted: looplet's names, which an earlier block of the page has
// imported, and the reader's own things. An example may use nothing else without importing or declaring it.
import * as looplet from "looplet";
import { practice } from "looplet/practice";

const { createAgent, tool, anthropic } = looplet;
const anything = (..._: any[]): any => undefined;

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
const model = anthropic("practice", { fetch: practice({ delayMs: 0 }) });
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
  modelIdOrArn: "amazon.nova-pro-v1:0",
  env: { AI: { run: async () => ({ response: "Hi" }) } },
  bar: { value: 0 },
  file: { write: anything },
  database: { insert: anything },
  client: { callTool: anything },
  remote: { call: anything },
  audit: anything,
  save: anything,
  show: anything,
  card: (_: string) => ({ add: anything }),
  confirm: (_: string) => true,
  isHarmful: async (_: unknown) => false,
  load: async (_customer: string, _count: number, _options: { signal: AbortSignal }) => [] as object[],
  fetchCredentials: async () => ({ accessKeyId: "id", secretAccessKey: "secret" }),
  CreateMLCEngine: async (_: string) => ({
    chat: { completions: { create: anything } },
    interruptGenerate: anything,
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

/** The names for the next example: its run is its own. */
export function fresh(): void {
  Object.assign(globalThis, names, { run: agent.run("What is 17 * 23?"), event: { questionId: 1 } });
}
