import { expect, it } from "vitest";
import { anthropic, createAgent, custom, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { loadWasm } from "../../../src/typescript/core/host/wasm.js";

const note = tool({
  description: "Takes a note",
  inputSchema: { type: "object" },
  execute: (_, { progress }) => progress("noted"),
});

/** A run with a tool; every third is aborted, every third iterated. */
async function one(index: number): Promise<string> {
  let asked = 0;
  const model = custom(() => (++asked === 1 ? [{ type: "tool_call", name: "note", input: {} }] : "done"));
  // Every second agent has a configuration that no other has.
  const system = `Agent ${index % 2 === 0 ? 0 : index}`;
  const run = createAgent({ model, system, tools: { note } }).run("go ".repeat(200));
  if (index % 3 === 1) for await (const event of run) if (event.type === "tool-call") break;
  if (index % 3 === 2) for await (const event of run) void event;
  return (await run.result).outcome;
}

it("I-10: a thousand runs, finished, aborted and left, do not grow the engine's memory", async () => {
  const memory = (await loadWasm()).glue.linearMemory() as WebAssembly.Memory;
  for (let index = 0; index < 150; index++) await one(index);
  const before = memory.buffer.byteLength;
  const ends = new Set<string>();
  for (let index = 0; index < 900; index++) ends.add(await one(index));
  expect(ends).toEqual(new Set(["completed", "cancelled"]));
  expect(memory.buffer.byteLength).toBe(before);
}, 60_000);

it("prepares an agent once, and agents with equal options together", async () => {
  const { glue } = (await loadWasm()) as { glue: { AgentHandle: new (config: string) => object } };
  const prepared: string[] = [];
  const { AgentHandle } = glue;
  glue.AgentHandle = class extends AgentHandle {
    constructor(config: string) {
      super(config);
      prepared.push((JSON.parse(config) as { system: string }).system);
    }
  };
  const agent = (system: string) => createAgent({ model: custom(() => "hi"), system });
  const first = agent("first");
  await first.run("go").result;
  await first.chat().run("go").result;
  await agent("second").run("go").result;
  const again = agent("first").run("go", { messages: [], inputs: { a: 1 } });
  expect(await again.result).toMatchObject({ outcome: "completed", text: "hi" });
  expect(prepared).toEqual(["first", "second"]);
  for (let index = 0; index < 20; index++) await agent(`other ${index}`).run("go").result;
  expect(await first.run("go").result).toMatchObject({ outcome: "completed" });
  expect(prepared.filter((system) => system === "first")).toHaveLength(2);
  glue.AgentHandle = AgentHandle;
});

it("hundreds of runs at once all end, each with its own answer", async () => {
  const ask = (index: number): Promise<string> => {
    const fetch = scripted([{ text: `answer ${index}` }]);
    return createAgent({ model: anthropic("m", { apiKey: "k" }), fetch })
      .run("go")
      .result.then(({ text }) => text);
  };
  const texts = await Promise.all(Array.from({ length: 400 }, (_, index) => ask(index)));
  expect(texts).toEqual(texts.map((_, index) => `answer ${index}`));
}, 60_000);
