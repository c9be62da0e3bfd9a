// The programs that the pages of four systems print, run as they are printed: only their imports lead to looplet.
import { existsSync, readFileSync } from "node:fs";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
// The entry brings the engine.
import "looplet";
import * as agentSdk from "looplet/agent-sdk";
import { scripted, type ScriptedStep } from "looplet/practice";
import * as production from "looplet/production";
import * as prompty from "looplet/prompty";
import * as sprout from "looplet/sprout";

const FOLDER = new URL("../../../shared/sources/", import.meta.url);
const isThere = existsSync(FOLDER);
if (!isThere) console.warn(`SKIPPED: the printed examples, because ${FOLDER.pathname} is missing.`);

const source = (file: string): string => readFileSync(new URL(file, FOLDER), "utf8");

/** The text from `start` up to and with `end`, the `nth` time that it stands in a source. */
function printed(file: string, start: string, end: string, nth = 0): string {
  const parts = source(file).split(start);
  const rest = parts[nth + 1];
  if (rest === undefined) throw new Error(`The source has no ${start}`);
  return start + rest.slice(0, rest.indexOf(end) + end.length);
}

/** Runs a program with these names, which are those that it imports or that its page takes as given. */
async function run(program: string, names: { readonly [name: string]: unknown }): Promise<unknown> {
  const text = program.replace(/^import .*$/gm, "");
  const target = ts.ScriptTarget.ESNext;
  const { outputText } = ts.transpileModule(`async function program() {${text}\n}`, {
    compilerOptions: { target },
  });
  return new Function(...Object.keys(names), `${outputText}\nreturn program();`)(...Object.values(names));
}

function asks(turns: readonly ScriptedStep[]) {
  const fetch = scripted(turns);
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-ant-test");
  vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe.skipIf(!isThere)("the page about the loop of the Agent SDK", () => {
  const file = "001_55b541f0c9716d71.txt";
  const from = 'import { query } from "@anthropic-ai/claude-agent-sdk";';

  it("prints a program that handles messages", async () => {
    const program = printed(file, from, "```").replace("```", "");
    const fetch = asks([{ text: "It is an agent loop." }]);
    await run(program, agentSdk);
    expect(lines).toEqual(["Turn completed: 1 content blocks", "It is an agent loop."]);
    expect(fetch.requests[0]).toMatchObject({ headers: { "x-api-key": "sk-ant-test" } });
  });

  it("prints a program that fixes tests and prints its cost", async () => {
    // The text of the page has lost the ends of its lines, which end its comments.
    const program = printed(file, from, "```", 1)
      .replace("```", "")
      .replace(/\/\/ ([^;\n]*?) (?=settingSources|maxTurns|effort|\} \}\)\)|if \(|\}\n)/g, "/* $1 */ ");
    const fetch = asks([{ text: "Fixed." }]);
    await run(program, agentSdk);
    expect(lines[0]).toBe("Done: Fixed.");
    expect(lines[1]).toMatch(/^Cost: \$\d\.\d{4}$/);
    expect(fetch.requests).toHaveLength(1);
  });
});

describe.skipIf(!isThere)("the page about Sprout's loop", () => {
  const file = "000_5154d3070c9e9ffc.txt";
  const teach = {
    name: "teach",
    description: "Teaches",
    input_schema: { type: "object" },
    execute: () => ({ taught: "x".repeat(300) }),
  };
  const turns = [
    { text: "I teach.", toolCalls: [{ name: "teach", input: { topic: "trees" } }] },
    { text: "Done." },
  ];

  it("prints a program that streams what the agent does", async () => {
    const program = `${printed(file, "const result = await agentLoop({", "\n});")}\nreturn result;`;
    const sent: [event: string, data: any][] = [];
    const sseWriter = { send: (event: string, data: any) => sent.push([event, data]) };
    asks(turns);
    const result = await run(program, { ...sprout, tutorTools: [teach], sseWriter });
    expect(result).toMatchObject({
      finalText: "Done.",
      toolCalls: [{ name: "teach", input: { topic: "trees" } }],
    });
    expect(sent.map(([event]) => event)).toEqual([
      "agent_reasoning",
      "tool_call",
      "tool_result",
      "agent_reasoning",
    ]);
    expect(sent[2]![1].summary).toHaveLength(200);
  });

  it("prints a program with a bound of iterations", async () => {
    const program = `${printed(file, "const result = await agentLoop({", "});", 1)}\nreturn result;`;
    asks(Array.from({ length: 9 }, () => turns[0]!));
    const given = { systemPrompt: "Teach.", userMessage: "Trees", tools: [teach], callbacks: {} };
    const result: any = await run(program, { ...sprout, ...given });
    expect(result.toolCalls).toHaveLength(5);
  });

  it("prints a program that runs an agent in its small mode", async () => {
    const program = `${printed(file, "const result = await topicAgent.run({", "});")}\nreturn result;`;
    const fetch = asks([{ text: "One concept." }]);
    const topicAgent = sprout.defineAgent({
      systemPrompt: "You plan.",
      prompt: "Plan {{topicNodeId}} for {{userId}}.",
      tools: [],
    } as never);
    const result: any = await run(program, { topicAgent, topicNodeId: "n1", userId: "u1" });
    expect(result.finalText).toBe("One concept.");
    expect(JSON.stringify(fetch.requests[0]!.body)).toContain("Plan n1 for u1.");
  });
});

describe.skipIf(!isThere)("the article about a loop in production", () => {
  const file = "003_c5266aecb29eaad4.txt";

  it("prints a loop that runs with the pieces of looplet", async () => {
    const whole = `${printed(file, "while (true) {", "unexpected stop_reason: ${response.stop_reason}`);\n}")}\nreturn messages;`;
    const answers = [
      {
        stop_reason: "tool_use",
        content: [{ type: "tool_use", id: "t1", name: "read", input: { path: "a" } }],
      },
      { stop_reason: "end_turn", content: [{ type: "text", text: "Done." }] },
    ];
    const client = { messages: { create: async () => answers.shift() } };
    const runTool = async () => ({ text: "hello" });
    const messages: any[] = [{ role: "user", content: "Go" }];
    const names = { ...production, client, runTool, messages, model: "m", system: "s", tools: [] };
    await run(whole, names);
    expect(messages[2]).toEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: '{"text":"hello"}' }],
    });
    expect(messages.at(-1).content).toEqual([{ type: "text", text: "Done." }]);
  });

  it("prints functions that do what those of looplet do", async () => {
    const stop: any = await run(
      `${printed(file, "function shouldStop(", "return { stop: false };\n}")}\nreturn shouldStop;`,
      {},
    );
    for (const stop_reason of ["end_turn", "tool_use"])
      for (const iter of [0, 50])
        for (const tokensUsed of [1, 10, 11])
          for (const cancelled of [true, false]) {
            const state = {
              response: { stop_reason },
              iter,
              budget: { tokensUsed, tokensCap: 10 },
              ctx: { maxIters: 50, cancelled },
            };
            expect(production.shouldStop(state)).toEqual(stop(state));
          }
    const runTool = async (name: string) => {
      if (name === "bad") throw new Error("No disk.");
      return { name };
    };
    const own = `${printed(file, "async function executeToolBlocks(", "}));\n}")}\nreturn executeToolBlocks;`;
    const execute: any = await run(own, { runTool });
    const blocks = ["good", "bad"].map((name, at) => ({ id: `t${at}`, name, input: {} }));
    const results = await production.executeToolBlocks(blocks, { runTool });
    expect(results).toEqual(await execute(blocks, {}));
  });

  it("prints a history that is made with the pieces of looplet", async () => {
    const program = printed(file, "// after tools run", "})),\n});");
    const messages: any[] = [];
    const results = {
      t0: { ok: 1 },
      t1: production.toolError({ code: "c", message: "m", hint: "h", recoverable: true }),
    };
    const toolUseBlocks = [{ id: "t0" }, { id: "t1" }];
    await run(program, { ...production, messages, toolUseBlocks, results });
    expect(messages[0].content).toMatchObject([
      { tool_use_id: "t0", content: '{"ok":1}', is_error: false },
      { tool_use_id: "t1", is_error: true },
    ]);
  });
});

describe.skipIf(!isThere)("Prompty's specification", () => {
  const file = "004_8dcbf9cb09a191b6.txt";

  it("names functions and constants that looplet/prompty exports", () => {
    const text = source(file);
    const named = [...text.matchAll(/\b(?:MAX_[A-Z_]+|[a-z]+(?:_[a-z]+)+(?=\())/g)].map(([name]) => name);
    // The text of the page has lost blanks: `resultturn_async` is `turn_async`.
    const others = ["json_parse", "regex_replace", "resultturn_async", "kind_handler"];
    const names = [...new Set(named)].filter((name) => !others.includes(name));
    expect(names).toContain("resilient_json_parse");
    expect(prompty.turnAsync).toBe(prompty.turn);
    for (const name of names) {
      const own = name.startsWith("MAX_")
        ? name
        : name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      expect(Object.keys(prompty), name).toContain(own);
    }
  });
});
