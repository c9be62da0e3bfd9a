import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { Reading } from "../../../src/typescript/core/generated/input.js";
import { readingsOf } from "../../../src/typescript/core/options/readings.js";
import type { AgentOptions } from "../../../src/typescript/core/api/agent.js";

const url = { type: "object", properties: { url: { type: "string" } } } as const;
const path = { type: "object", properties: { path: { type: "string" } } } as const;

/** A run that calls `fetch` or `read` once for each of these texts. */
async function called(name: "fetch" | "read", texts: string[], options: Partial<AgentOptions>) {
  const field = name === "fetch" ? "url" : "path";
  const inputs = texts.map((text) => ({ name, input: { [field]: text } }));
  const model = scripted([{ toolCalls: inputs }, { text: "End." }]);
  const ran: string[] = [];
  const execute = (input: Record<string, string>) => void ran.push(input[field]!);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch: model }),
    tools: {
      fetch: tool({ description: "Fetches", inputSchema: url, access: "fetch", execute }),
      read: tool({ description: "Reads", inputSchema: path, access: "read", execute }),
    },
    ...options,
  });
  const run = agent.run("Go");
  const questions: string[] = [];
  for await (const event of run) if (event.type === "question") questions.push(event.question);
  return { ran, questions, toolCalls: (await run.result).toolCalls };
}

describe("readings", () => {
  it("a path of other letters has the form in which rules are compared", () => {
    expect(readingsOf(["A\u0308/x", "\u00c4/x"])).toEqual([{ text: "A\u0308/x", composed: "\u00c4/x" }]);
  });

  it("the texts of the engine's tables are read as URL reads them", () => {
    const file = new URL("../../../src/engine/policy/rule/tests/readings.jsonl", import.meta.url);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const readings = lines.map((line) => JSON.parse(line) as Reading);
    expect(readings.length).toBeGreaterThan(100);
    for (const reading of readings) expect(readingsOf([reading.text])).toEqual([reading]);
  });

  it.each([
    ["https://a.com/%2e%2e/%61?x=%61", ["/%61?x=%61", "/a?x=%61"]],
    ["https://a.com/x/..%2f..%5cy", ["/x/..%2f..%5cy", "/y"]],
    ["https://a.com/%252561//b", ["/%252561//b", "/a/b"]],
    ["https://a.com/a%3Fb%23c%20d", ["/a%3Fb%23c%20d"]],
    ["https://a.com/%ff%zz%", ["/%ff%zz%"]],
  ])("%s has the paths %j", (text, paths) => {
    expect(readingsOf([text])[0]?.address?.paths).toEqual(paths);
  });

  it.each([
    "a.txt",
    "no address: here",
    "file:///etc/passwd",
    "javascript://a.com/x",
    "https://",
    "x".repeat(5000),
  ])("%s reads as it stands", (text) => expect(readingsOf([text])).toEqual([]));

  it("S001-29: hosts are those of the platform's URL", async () => {
    const rules = { permissions: { allow: ["fetch(domain:good.com)"], deny: ["fetch(domain:*.good.com)"] } };
    const texts = [
      "https://good.com/x",
      "https://a.good.com",
      "https://g\u{ff4f}od.com",
      "https://me@good.com",
      "good.com",
    ];
    const { ran, toolCalls } = await called("fetch", texts, rules);
    expect(ran).toEqual(["https://good.com/x"]);
    expect(JSON.stringify(toolCalls[1]?.output)).toContain("the rule fetch(domain:*.good.com) denies it");
    expect(JSON.stringify(toolCalls[4]?.output)).toContain("no rule allows it");
  });

  it("S001-29: composed letters and upper case hide no path, in rules of options and of answers", async () => {
    const rule = "read(Ärger/**)".normalize("NFD");
    const texts = ["Ärger/x".normalize("NFD"), "ärger/x", "ÄRGER/x", "arger/x"];
    const { ran } = await called("read", texts, { permissions: { deny: [rule], allow: ["read"] } });
    expect(ran).toEqual(["arger/x"]);
    const updatedPermissions = [{ type: "addRules" as const, behavior: "deny" as const, rules: [rule] }];
    const canUseTool = vi.fn(() => ({ behavior: "allow" as const, updatedPermissions }));
    const asked = await called("read", ["a", ...texts], {
      permissions: { ask: ["read"], canUseTool },
      toolCalls: { execution: "sequential" },
    });
    expect(asked.ran).not.toContain("ärger/x");
    expect(asked.ran).toContain("a");
  });

  it("S001-28: a rule that denies sees the address that canUseTool, a hook or a guardrail has put in", async () => {
    const deny = ["fetch(domain:evil.com)"];
    const updatedInput = { url: "https:\\\\EVIL.com" };
    const rows: Partial<AgentOptions>[] = [
      { permissions: { deny, canUseTool: () => ({ behavior: "allow", updatedInput }) } },
      {
        permissions: { deny, allow: ["fetch"] },
        hooks: { PreToolUse: [{ hooks: [() => ({ updatedInput })] }] },
      },
      {
        permissions: { deny, allow: ["fetch"] },
        guardrails: { tool: () => ({ allowed: true, rewrite: updatedInput }) } as never,
      },
    ];
    for (const options of rows) {
      const { ran, toolCalls } = await called("fetch", ["https://fine.com/"], options);
      expect(ran).toEqual([]);
      expect(JSON.stringify(toolCalls[0]?.output)).toContain("the rule fetch(domain:evil.com) denies it");
    }
  });

  it("S001-29: only where rules compare addresses, and once for an answer, the TypeScript is asked to read them", async () => {
    const texts = ["https://a.com/", "https://b.com/"];
    const bare = await called("fetch", texts, { permissions: { allow: ["fetch"], deny: ["read(*.env)"] } });
    expect(bare).toMatchObject({ ran: texts, questions: [] });
    const scoped = await called("fetch", texts, { permissions: { allow: ["fetch(domain:*.com)"] } });
    expect(scoped).toMatchObject({ ran: texts, questions: ["prepare_calls"] });
  });
});
