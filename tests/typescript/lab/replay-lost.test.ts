// Alone in its file: it replaces the instance.
import { beforeEach, expect, it, vi } from "vitest";
import { arm } from "../../package/trap.mjs";
import { scripted } from "../../../src/typescript/lab/practice/index.js";

// Each in a realm of its own: only the first instance can be made to trap.
beforeEach(() => void vi.resetModules());

async function fresh() {
  const { anthropic, createAgent } = await import("../../../src/typescript/core/entry/node.js");
  const { recorder, replay } = await import("../../../src/typescript/lab/replay/index.js");
  const { expectReplay, withExpectations } = await import("../../../src/typescript/lab/testing/index.js");
  const fetch = scripted([{ text: ["One, ", "two, ", "three."] }]);
  const agent = createAgent({ model: anthropic("m", { apiKey: "k", fetch }), record: recorder() });
  return { agent, replay, expectReplay, withExpectations };
}

it("exports a run whose WebAssembly was lost, up to the input that lost it", async () => {
  const { agent, replay, expectReplay, withExpectations } = await fresh();
  const run = agent.run("Count.", { onText: (text) => text.includes("two") && arm("runhandle_chunk") });
  const { outcome, text } = await run.result;
  expect(outcome).toBe("failed");
  const file = run.export();
  const { lost } = (JSON.parse(file) as { processes: { lost: string }[] }).processes[0]!;
  expect(lost).toMatch(/memory access|RuntimeError/);
  const played = await replay(file);
  expect(played.lost).toBeUndefined();
  expect(played.at(played.steps.length - 1)).toMatchObject({ outcome: undefined, text });
  await expectReplay(file);
  await expectReplay(await withExpectations(file));
});

it("says at which input a file makes looplet fail, and leaves a sound instance", async () => {
  const { agent, replay, expectReplay, withExpectations } = await fresh();
  const run = agent.run("Count.");
  await run.result;
  const file = run.export();
  arm("playInput", "panic");
  await expect(expectReplay(file)).rejects.toThrow(
    /^looplet failed at input 1 of the file.\n {2}expected {2}no error\n {2}actual {4}.*made by a test/,
  );
  expect((await replay(file)).lost).toBeUndefined();
  await expectReplay(await withExpectations(file));
});
