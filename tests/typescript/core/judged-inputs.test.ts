// The input that rules have judged is the input that runs, whatever functions do to the objects that they get.
import { expect, it } from "vitest";
import { z } from "zod";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions } from "../../../src/typescript/core/api/index.js";

type Input = { file_path: string; more?: { file_path?: string } };

/** The inputs with which a tool that deletes files was run, for calls with these paths. */
async function run(paths: string[], how: object, options: Partial<AgentOptions> = {}, schema?: object) {
  const ran: unknown[] = [];
  const inputSchema = schema ?? { type: "object", properties: { file_path: { type: "string" } } };
  const Delete = tool({
    description: "Deletes a file",
    inputSchema,
    access: "edit",
    execute: (input: unknown) => (ran.push(input), "deleted"),
    ...how,
  } as never);
  const fetch = scripted([
    { toolCalls: paths.map((file_path) => ({ name: "Delete", input: { file_path } })) },
    { text: "Done." },
  ]);
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k", fetch }),
    tools: { Delete: Delete as never },
    permissions: { allow: ["Delete(tmp/**)"], deny: ["Delete(etc/**)"] },
    ...options,
  });
  await agent.run("Go").result;
  return ran;
}

const change = (input: Input) => {
  input.file_path = "etc/passwd";
  return undefined;
};
const zod = z.object({ file_path: z.string() });

it.each([
  ["resourceKey", { resourceKey: change }],
  ["needsApproval", { needsApproval: (input: Input): boolean => (change(input), false) }],
  ["both", { resourceKey: change, needsApproval: (input: Input): boolean => (change(input), false) }],
] as const)("%s that changes its input in place passes no rule", async (_, how) => {
  const schemas = [undefined, zod, z.object({ file_path: z.string().trim() })];
  for (const schema of schemas)
    expect(await run(["tmp/a"], how, {}, schema)).toEqual([{ file_path: "tmp/a" }]);
});

it("a function that changes its input later passes no rule", async () => {
  let kept: Input | undefined;
  const resourceKey = (input: Input) => void (kept = input);
  const canUseTool = async () => {
    change(kept!);
    return { behavior: "allow" as const };
  };
  for (const schema of [undefined, zod]) {
    const options = { permissions: { deny: ["Delete(etc/**)"], canUseTool } };
    expect(await run(["a"], { resourceKey }, options, schema)).toEqual([{ file_path: "a" }]);
  }
});

it("needsApproval is asked about the input that runs", async () => {
  const asked: string[] = [];
  const needsApproval = ({ file_path }: Input) => (asked.push(file_path), false);
  for (const schema of [undefined, zod])
    await run(["tmp/a"], { resourceKey: change, needsApproval }, {}, schema);
  expect(asked).toEqual(["tmp/a", "tmp/a"]);
});

it("canUseTool, hooks and guardrails that change an input in place change nothing, and what they return is judged", async () => {
  const inPlace: Partial<AgentOptions> = {
    permissions: {
      deny: ["Delete(etc/**)"],
      canUseTool: async (__, input) => (change(input), { behavior: "allow" }),
    },
    hooks: { PreToolUse: [{ hooks: [({ input }) => change(input as Input)] }] },
    guardrails: { tool: (_, input) => (change(input as Input), { allowed: true }) },
  };
  const returned: Partial<AgentOptions> = {
    permissions: {
      deny: ["Delete(etc/**)"],
      canUseTool: async () => ({ behavior: "allow", updatedInput: { file_path: "etc/passwd" } }),
    },
  };
  for (const schema of [undefined, zod]) {
    expect(await run(["a"], {}, inPlace, schema)).toEqual([{ file_path: "a" }]);
    expect(await run(["a"], {}, returned, schema)).toEqual([]);
  }
});

it("values that JSON cannot hold still reach their tool as the schema made them", async () => {
  const made = z.object({ file_path: z.string().transform((path) => new Map([[path, 1]])) });
  const options = { permissions: undefined, limits: { repeat: false as const } };
  expect(await run(["a"], { resourceKey: () => "k" }, options, made)).toEqual([
    { file_path: new Map([["a", 1]]) },
  ]);
});
