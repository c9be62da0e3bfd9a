// Files that were recorded in one build of the engine and are played in the other: `native.loop` is written by
// tests/run/loop_files.rs, `wasm.loop` here, each with LOOPLET_WRITE=1. Both tests play both files.
import { readFile, writeFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { anthropic, createAgent, subagent, tool } from "looplet";
import { scripted } from "looplet/practice";
import { recorder, replay } from "looplet/replay";
import { toldBy } from "../support/told-by.js";

const pathOf = (name: string) => new URL(`../../fixtures/loop/${name}`, import.meta.url);

/** A run with a retry, tools, a subagent, a question, a steer from inside a listener and an abort from inside one. */
async function recorded(): Promise<string> {
  let nowMs = 1_700_000_000_000;
  const fetch = scripted([
    { status: 529, error: { type: "overloaded_error", message: "busy" } },
    { text: ["Rä", "d 🦀"], toolCalls: [{ id: "h", name: "helper", input: { prompt: "Dig." } }] },
    { text: "Gold." },
    {
      toolCalls: [
        { id: "a", name: "read", input: { n: 1.5, z: "", a: [1] } },
        { id: "b", name: "wipe", input: {} },
      ],
    },
    { text: "Nearly done." },
  ]);
  const acts = (more: object) =>
    tool({
      description: "acts",
      inputSchema: { type: "object" },
      execute: () => ({ z: 1.5, a: "ü" }),
      ...more,
    });
  const digger = createAgent({ model: anthropic("small", { fetch }) });
  const agent = createAgent({
    model: anthropic("claude-test", { fetch }),
    tools: {
      read: acts({ readOnly: true }),
      wipe: acts({ needsApproval: true }),
      helper: subagent(digger, { name: "helper", description: "digs" }),
    },
    record: recorder(),
    trace: () => ({ onEvent: () => {} }),
    retry: { baseMs: 1, jitterMs: 1 },
    clock: {
      now: () => (nowMs += 7),
      setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
      clearTimer: (timer) => clearTimeout(timer as number),
    },
    random: () => 0.37,
    ids: () => "wasm",
  });
  const run = agent.run("Go.", {
    onEvent: (event) => {
      if (event.type === "tool-call" && event.toolName === "read") run.steer("Hurry.");
      if (event.type === "question") run.answer(event.questionId, { behavior: "allow" });
      if (event.type === "text-delta" && event.text.startsWith("Nearly")) run.abort("enough");
    },
  });
  await run.result;
  return run.export();
}

if (process.env["LOOPLET_WRITE"] !== undefined) {
  const file = await recorded();
  const told = JSON.stringify(toldBy(await replay(file)));
  await writeFile(pathOf("wasm.loop"), `${file.trimEnd().slice(0, -1)},\n"told":${told}}\n`);
}

it.each(["native.loop", "wasm.loop"])(
  "I-07 replays %s to equal requests, events and entries",
  async (name) => {
    const file = await readFile(pathOf(name), "utf8");
    const { told } = JSON.parse(file) as { told: ReturnType<typeof toldBy> };
    const played = toldBy(await replay(file));
    expect(played.events.length).toBeGreaterThan(20);
    expect(played.requests).toEqual(told.requests);
    expect(played.events).toEqual(told.events);
    expect(played.entries).toEqual(told.entries);
  },
);

it("says what is missing when no entry of looplet was imported", async () => {
  vi.resetModules();
  const alone = await import("../../../src/typescript/lab/replay/index.js");
  const file = await readFile(pathOf("native.loop"), "utf8");
  await expect(alone.replay(file)).rejects.toMatchObject({
    code: "config_wasm",
    message: expect.stringContaining("or import looplet") as string,
  });
});
