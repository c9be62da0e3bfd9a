/** The words of TypeScript about a wrong option: they say which one, and why. */
import { fileURLToPath } from "node:url";
import * as looplet from "looplet";
import ts from "typescript";
import { beforeAll, expect, test } from "vitest";

const WRONG = {
  "a missing option": {
    code: `createAgent({ system: "Be brief" })`,
    marked: `{ system: "Be brief" }`,
    says: /Property 'model' is missing/,
  },
  "a misspelt option": {
    code: `createAgent({ model, sistem: "Be brief" })`,
    marked: "sistem",
    says: /'sistem' does not exist .* Did you mean to write 'system'\?/,
  },
  "a misspelt option of a group": {
    code: `createAgent({ model, limits: { maxIteration: 3 } })`,
    marked: "maxIteration",
    says: /'maxIteration' does not exist .* Did you mean to write 'maxIterations'\?/,
  },
  "a misspelt option beside tools and an output": {
    code: `createAgent({ model, tools: { weather }, output: { schema }, limits: { maxIteration: 3 } })`,
    marked: "maxIteration",
    says: /'maxIteration' does not exist .* Did you mean to write 'maxIterations'\?/,
  },
  "an option of a wrong type": {
    code: `createAgent({ model, limits: { maxIterations: "3" } })`,
    marked: "maxIterations",
    says: /^Type 'string' is not assignable to type 'number'/,
  },
  "a model's name in the place of a model": {
    code: `createAgent({ model: "claude" })`,
    marked: "model",
    says: /^Type 'string' is not assignable to type 'Model'/,
  },
  "a schema in the place of an output": {
    code: `createAgent({ model, output: schema })`,
    marked: "output",
    says: /^Property 'schema' is missing/,
  },
  "a wrong field of an output": {
    code: `createAgent({ model, output: { schema, strict: 1 } })`,
    marked: "strict",
    says: /^Type 'number' is not assignable to type 'boolean/,
  },
  "a wrong field of a hook": {
    code: `createAgent({ model, output: { schema }, hooks: { beforeTool: 5 } })`,
    marked: "beforeTool",
    says: /'beforeTool' does not exist in type 'Hooks'/,
  },
  "a tool of an agent without a schema": {
    code: `createAgent({ model, tools: { weather: { execute: () => 1 } } })`,
    marked: "tools",
    says: /property 'weather' are incompatible\.\s+Property 'inputSchema' is missing/,
  },
  "a tool without a schema": {
    code: `tool({ execute: () => 1 })`,
    marked: `{ execute: () => 1 }`,
    says: /Property 'inputSchema' is missing/,
  },
  "a misspelt field of a tool": {
    code: `tool({ inputSchema: schema, exceute: () => 1 })`,
    marked: "exceute",
    says: /'exceute' does not exist .* Did you mean to write 'execute'\?/,
  },
  "a field of a tool with a wrong type": {
    code: `tool({ description: 5, inputSchema: schema, execute: () => 1 })`,
    marked: "description",
    says: /^Type 'number' is not assignable to type 'string'/,
  },
  "a field of the input that the schema does not have": {
    code: `tool({ inputSchema: schema, execute: ({ town }) => town })`,
    marked: "town",
    says: /^Property 'town' does not exist/,
  },
  "a subagent without a description": {
    code: `subagent({ system: "Be brief" })`,
    marked: `{ system: "Be brief" }`,
    says: /Property 'description' is missing/,
  },
  "a misspelt field of a handoff": {
    code: `handoff({ description: "Asks", sytem: "Be brief" })`,
    marked: "sytem",
    says: /'sytem' does not exist .* Did you mean to write 'system'\?/,
  },
};

/** Names of other libraries, each with a word of what TypeScript says to write. */
const PEERS = {
  "createAgent({ model, maxSteps: 5 })": "limits: { maxIterations }",
  "createAgent({ model, maxTurns: 5, tools: { weather } })": "limits: { maxToolRounds }",
  "createAgent({ model, maxTokens: 5 })": "maxOutputTokens",
  'createAgent({ model, instructions: "Be brief" })': "system",
  'createAgent({ model, systemPrompt: "Be brief" })': "system",
  "createAgent({ model, temperature: 0 })": "anthropic(name, { temperature })",
  "createAgent({ model, stopWhen: () => true })": "limits: { stopWhen }",
  "createAgent({ model, outputSchema: schema })": "output: { schema }",
  "createAgent({ model, canUseTool: () => null })": "permissions: { canUseTool }",
  "createAgent({ model, handoffs: [] })": "handoff(agent, { description })",
  "tool({ parameters: schema, execute: () => 1 })": "inputSchema",
  "tool({ inputSchema: schema, parameters: schema, execute: () => 1 })": "inputSchema",
  "tool({ input_schema: schema, execute: () => 1 })": "inputSchema",
  "tool({ inputSchema: schema, handler: () => 1 })": "execute",
  "tool({ inputSchema: schema, func: () => 1 })": "execute",
  'anthropic("m", { maxTokens: 5 })': "maxOutputTokens",
  'openaiChat("m", { max_tokens: 5 })': "maxOutputTokens",
  'gemini("m", { reasoningEffort: "low" })': "effort",
  'compatible("m", { baseUrl: "http://x", maxTokens: 5 })': "maxOutputTokens",
  'agent.sendMessage("Hi")': "agent.run(prompt)",
  'agent.generate("Hi")': "agent.run(prompt)",
  'agent.stream("Hi")': "agent.run(prompt)",
  "agent.invoke({ messages: [] })": "agent.run(prompt)",
  'agent.run("Hi", { maxSteps: 5 })': "limits: { maxIterations }",
  'agent.run("Hi", { abortSignal: AbortSignal.abort() })': "signal",
  'agent.chat().sendMessage({ message: "Hi" })': "chat.run(prompt)",
  'agent.chat().send("Hi")': "chat.run(prompt)",
  'agent.chat().run("Hi", { maxSteps: 5 })': "limits: { maxIterations }",
};

const PREAMBLE = `
import {
  anthropic, compatible, createAgent, gemini, handoff, openaiChat, subagent, tool,
} from "../../../src/typescript/core/index.js";
const model = anthropic("m", { apiKey: "k" });
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const weather = tool({ description: "Tells the weather", inputSchema: schema, execute: ({ city }) => city });
const agent = createAgent({ model, tools: { weather } });
void [agent, compatible, createAgent, gemini, handoff, model, openaiChat, subagent, weather];
`;

const PREAMBLE_AT_RUN_TIME = `
const model = anthropic("m", { apiKey: "k" });
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = tool({ description: "Tells the weather", inputSchema: schema, execute: ({ city }) => city });
const agent = createAgent({ model, tools: { weather } });
`;

let errors: Map<string, readonly ts.Diagnostic[]>;
beforeAll(() => {
  errors = compiled([...Object.values(WRONG).map(({ code }) => code), ...Object.keys(PEERS)]);
}, 120_000);

for (const [what, { code, marked, says }] of Object.entries(WRONG))
  test(`TypeScript says what is wrong: ${what}`, () => {
    const told = errors.get(code) ?? [];
    expect(told.map(({ file, start, length }) => file?.text.slice(start, start! + length!))).toEqual([
      marked,
    ]);
    const message = ts.flattenDiagnosticMessageText(told[0]!.messageText, "\n");
    expect(message).toMatch(says);
    expect(message).not.toMatch(/overload/);
  });

for (const [code, write] of Object.entries(PEERS)) {
  test(`TypeScript says what to write for ${code}`, () => {
    const told = (errors.get(code) ?? []).map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, "\n"),
    );
    const hinted = told.flatMap((text) => /WriteInstead<"(.*?)">/.exec(text)?.[1] ?? []);
    expect(hinted.join("\n"), told.join("\n")).toContain(write);
  });

  test(`looplet says at run time what to write for ${code}`, () => {
    const names = ["anthropic", "compatible", "createAgent", "gemini", "openaiChat", "tool"] as const;
    const made = names.map((name) => looplet[name]);
    const run = new Function(...names, PREAMBLE_AT_RUN_TIME + `return ${code}`);
    const words = write.replace(/^.*?(\{|await )/, "").split(/[^\w.]+/);
    expect(() => run(...made)).toThrow(new RegExp(words.filter((word) => word !== "").join(".*")));
  });
}

/** The errors of each of these statements, in a file of its own that stands beside this one. */
function compiled(statements: readonly string[]): Map<string, readonly ts.Diagnostic[]> {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const texts = new Map(
    statements.map((code, at) => [`${root}tests/typescript/core/wrong-${at}.ts`, `${PREAMBLE}${code};\n`]),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = texts.get(file);
    return text === undefined
      ? getSourceFile(file, target, ...rest)
      : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const inOrder = [...texts.keys()].map((file) =>
    program.getSemanticDiagnostics(program.getSourceFile(file)),
  );
  return new Map(statements.map((code, at) => [code, inOrder[at] ?? []]));
}
