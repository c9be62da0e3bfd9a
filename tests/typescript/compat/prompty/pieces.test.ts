/** The pieces of the specification's loop by their own names, and the warning of a fallback. */
import {
  applyBindings,
  executeLlm,
  executePromptyTool,
  extractFirstJsonBlock,
  extractTextContent,
  findToolDefinition,
  getExecutor,
  getParser,
  getProcessor,
  getRenderer,
  InvokerError,
  invoke,
  loadPrompty,
  MAX_ITERATIONS,
  MAX_LLM_RETRIES,
  prepare,
  resilientJsonParse,
  turn,
  type Prompty,
  type PromptyHost,
} from "looplet/prompty";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { describe, expect, it } from "vitest";
import { play, said } from "./kit.js";

const agentAt = (provider: string, tools = ""): Promise<Prompty> =>
  loadPrompty(
    `---\nmodel: { id: m, provider: ${provider}, connection: { kind: key, apiKey: k } }\n${tools}---\nuser:\nHi`,
  );

function listening(turns: ScriptedTurn[]): PromptyHost & { warnings: string[] } {
  const warnings: string[] = [];
  return { fetch: scripted(turns), logger: { warn: (message) => warnings.push(message) }, warnings };
}

describe("the warning of a fallback", () => {
  const texts = [
    ["code_fence", '```json\n{"city":"P"}\n```'],
    ["first_object", 'Sure: {"city":"P"} is it'],
    ["trailing_commas", '{"city":"P",}'],
  ] as const;
  const rows = ["openai", "anthropic", "google"].flatMap((provider) =>
    texts.flatMap(([fallback, text]) =>
      [false, true].map((stream) => [provider, fallback, stream, text] as const),
    ),
  );

  it.each(rows)("comes with the executor %s for %s, stream: %s", async (provider, fallback, stream, text) => {
    const host = listening([{ toolCalls: [{ name: "w", argumentsText: text }] }, { text: "Done." }]);
    const seen: unknown[] = [];
    const result = await turn(
      await agentAt(provider),
      {},
      { w: (args) => seen.push(args) },
      { host, stream },
    );
    if (stream) for await (const _ of result as AsyncIterable<unknown>);

    expect(seen).toEqual([{ city: "P" }]);
    expect(host.warnings).toEqual([`The arguments of w were not valid JSON; repaired by ${fallback}`]);
  });

  it("comes for one model call, and not for arguments that are JSON", async () => {
    const tools = "tools: [{ name: w, kind: function }]\n";
    const broken = listening([{ toolCalls: [{ name: "w", argumentsText: '{"a":1,}' }] }]);
    await invoke(await agentAt("openai", tools), {}, { host: broken });
    const sound = listening([{ toolCalls: [{ name: "w", argumentsText: '{"a":1}' }] }]);
    await invoke(await agentAt("openai", tools), {}, { host: sound });

    expect(broken.warnings).toEqual(["The arguments of w were not valid JSON; repaired by trailing_commas"]);
    expect(sound.warnings).toEqual([]);
  });

  it("does not end a turn when the logger throws", async () => {
    const fetch = scripted([{ toolCalls: [{ name: "w", argumentsText: '{"a":1,}' }] }, { text: "Done." }]);
    const warn = () => {
      throw new Error("The logger is broken");
    };

    expect(
      await turn(await agentAt("openai"), {}, { w: () => 1 }, { host: { fetch, logger: { warn } } }),
    ).toBe("Done.");
  });
});

describe("resilientJsonParse", () => {
  it.each([
    ['{"a":1}', { a: 1 }, undefined],
    ['```json\n{"a":1}\n```', { a: 1 }, "code fence"],
    ['  ```\n{"a":1}\n```  ', { a: 1 }, "code fence"],
    ['Here: {"a":{"b":"}"}} is it', { a: { b: "}" } }, "first JSON block"],
    ['{"a":[1,2,],}', { a: [1, 2] }, "trailing commas"],
    ['{"a":",}",}', { a: ",}" }, "trailing commas"],
    ['So {"a":1,} it is', { a: 1 }, "first JSON block without trailing commas"],
    ["", null, undefined],
    ["null", null, undefined],
    ["not JSON", null, undefined],
    ['{"a":', null, undefined],
    ["[1]", null, undefined],
  ])("reads %j as %j", (text, args, fallback) => {
    const warnings: string[] = [];
    const logger = { warn: (message: string) => warnings.push(message) };

    expect(resilientJsonParse(text, { logger, toolName: "w" })).toEqual(args);
    expect(warnings).toEqual(
      fallback === undefined ? [] : [`The arguments of w were read by a fallback: ${fallback}`],
    );
  });
});

describe("the other pieces", () => {
  it("finds the first block whose braces match", () => {
    expect(extractFirstJsonBlock('a {"b":"\\"}"} {"c":1}')).toBe('{"b":"\\"}"}');
    expect(extractFirstJsonBlock('a {"b":')).toBeNull();
    expect(extractFirstJsonBlock("a")).toBeNull();
  });

  it("gives bound parameters the values of inputs", () => {
    const bindings = { unit: { input: "preferred" }, other: { input: "absent" } };
    const args = { unit: "kelvin", other: 1 };

    expect(applyBindings({ bindings }, args, { preferred: "celsius" })).toEqual({
      unit: "celsius",
      other: 1,
    });
    expect(applyBindings({}, args, { preferred: "celsius" })).toEqual(args);
    expect(args).toEqual({ unit: "kelvin", other: 1 });
  });

  it("finds a tool by its name", async () => {
    const agent = await agentAt("openai", "tools: [{ name: w, kind: function }]\n");

    expect(findToolDefinition(agent, "w")).toBe(agent.tools[0]);
    expect(findToolDefinition(agent, "v")).toBeNull();
  });

  it.each([
    ["of Chat Completions", { choices: [{ message: { content: "Text" } }] }],
    ["of the Responses API", { output: [{ type: "message", content: [{ text: "Text" }] }] }],
    [
      "of Anthropic",
      {
        content: [
          { type: "text", text: "Text" },
          { type: "tool_use", id: "1", name: "w" },
        ],
      },
    ],
  ])("reads the text of an answer %s", (_, response) => {
    expect(extractTextContent(response)).toBe("Text");
    expect(extractTextContent({ choices: [{ message: { content: null } }] })).toBeNull();
  });

  it("are the parts that a turn uses", async () => {
    const agent = await agentAt("openai");
    const host = { fetch: scripted([{ text: "Hello." }]) };
    const messages = await getParser("prompty").parse(agent, "user:\nHi");
    const answer = await executeLlm(agent, messages, { host });

    expect(messages).toEqual(await prepare(agent));
    expect(await getRenderer("jinja2").render(agent, "{{a}}", { a: "b" }, [])).toMatchObject([{ text: "b" }]);
    expect(await getProcessor("openai").process(agent, answer)).toBe("Hello.");
    expect(extractTextContent(answer)).toBe("Hello.");
    expect(getExecutor("anthropic")).toHaveProperty("formatToolMessages");
    for (const get of [getExecutor, getProcessor, getRenderer, getParser])
      expect(() => get("none")).toThrow(InvokerError);
  });

  it("run the file of a tool, with one model call or with a turn", async () => {
    const files: { [path: string]: string } = {
      "/a/child.prompty": "---\nmodel: m\ninputs: [{ name: unit, kind: string }]\n---\nuser:\nIn {{unit}}",
    };
    const vfs = { readFile: (path: string) => files[path] ?? Promise.reject(new Error(path)) };
    const tool = { name: "t", kind: "prompty", path: "child.prompty", bindings: { unit: { input: "u" } } };
    const agent = { ...(await agentAt("openai")), path: "/a/parent.prompty" };
    for (const mode of ["single", "agentic"] as const) {
      const fetch = scripted([{ text: mode }]);
      const host = { vfs, fetch, apiKey: "k" };
      const result = await executePromptyTool(
        { ...tool, mode },
        { unit: "x" },
        { u: "celsius" },
        { agent, host },
      );

      expect(result).toBe(mode);
      expect(JSON.stringify(fetch.requests[0]?.body)).toContain("In celsius");
    }
  });

  it("name the bounds that a turn without options has", async () => {
    const rounds = Array.from({ length: 20 }, () => said(null, ["w", "{}"]));
    const endless = await play(rounds, { tools: { w: () => "again" } });
    const failing = await play(Array.from({ length: 20 }, () => () => Promise.reject(new Error("Down"))));

    expect(endless.asked).toHaveLength(MAX_ITERATIONS);
    expect(endless.error.message).toBe(`Agent loop exceeded ${MAX_ITERATIONS} iterations`);
    expect(failing.asked).toHaveLength(MAX_LLM_RETRIES);
  });
});
