import { expect, it } from "vitest";
import { anthropic, createAgent, custom, tool } from "../../src/face/entry/node.js";
import { scripted } from "../../src/face/practice/index.js";
import { loadWasm } from "../../src/face/host/wasm.js";

const note = tool({
  description: "Takes a note",
  inputSchema: { type: "object" },
  execute: (_, { progress }) => progress("noted"),
});

/** A run with a tool; every third is aborted, every third iterated. */
async function one(index: number): Promise<string> {
  let asked = 0;
  const model = custom(() => (++asked === 1 ? [{ type: "tool_call", name: "note", input: {} }] : "done"));
  const run = createAgent({ model, tools: { note } }).run("go ".repeat(200));
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
