// What `looplet inspect` prints of forks, whose files begin in the middle of a run.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { anthropic, createAgent, gemini, handoff, subagent, tool, type Model } from "looplet";
import { scripted, type ScriptedStep } from "looplet/practice";
import { fork, recorder } from "looplet/replay";
import { program } from "../../../src/cli/program.js";

/** The models of the file, as `agent iteration: model`. */
async function modelsOf(text: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "looplet-forks-"));
  const file = join(folder, "run.loop");
  writeFileSync(file, text);
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((more) => ((out += String(more)), true));
  try {
    expect(await program(["inspect", file, "--json"])).toBe(0);
  } finally {
    spy.mockRestore();
    rmSync(folder, { recursive: true });
  }
  const { iterations } = JSON.parse(out) as {
    iterations: { agent: string; iteration: number; model: string }[];
  };
  return iterations.map(({ agent, iteration, model }) => `${agent} ${iteration}: ${model}`);
}

const dig = tool({
  description: "digs",
  readOnly: true,
  inputSchema: { type: "object" },
  execute: () => "ok",
});

type MakeModel = (name: string, turns: readonly ScriptedStep[]) => Model;
const claude: MakeModel = (name, turns) => anthropic(name, { apiKey: "key", fetch: scripted(turns) });
const google: MakeModel = (name, turns) => gemini(name, { apiKey: "key", fetch: scripted(turns) });

/** An agent with a subagent and an agent to hand off to, each with a model of its own. */
function agentOf(name: string, make: MakeModel, [root, sub, next]: readonly (readonly ScriptedStep[])[]) {
  return createAgent({
    model: make(name, root!),
    record: recorder(),
    tools: {
      helper: subagent(createAgent({ model: make(`${name}-sub`, sub!), tools: { dig } }), {
        description: "digs",
      }),
      billing: handoff(createAgent({ model: make(`${name}-next`, next!), tools: { dig } }), {
        name: "billing",
        description: "bills",
      }),
    },
  });
}

const call = (name: string, input: object = {}): ScriptedStep => ({
  toolCalls: [{ id: name, name, input }],
});

it.each([
  ["in its body", claude],
  ["in its address", google],
])(
  "the model of each request that has it %s is printed, also of a fork",
  { timeout: 60_000 },
  async (_, make) => {
    const turns = [
      [call("helper", { prompt: "Dig." }), call("billing")],
      [call("dig"), { text: "Gold." }],
      [call("dig"), { text: "Paid." }],
    ];
    const run = agentOf("old", make, turns).run("Go.");
    expect((await run.result).text).toBe("Paid.");
    const text = run.export();
    const all = ["root 1", "root/helper 1", "root/helper 2", "root 2", "root 3", "root 4"];
    const suffix = ["", "-sub", "-sub", "", "-next", "-next"];
    expect(await modelsOf(text)).toEqual(all.map((one, at) => `${one}: old${suffix[at]}`));

    const { inputs } = (JSON.parse(text) as { processes: { inputs: unknown[] }[] }).processes[0]!;
    const seen = new Set<string>();
    for (let at = 1; at < inputs.length; at += 4) {
      const entries = await fork(text, at);
      if (entries.length === 0) continue;
      const answers = [{ text: "One." }, { text: "Two." }];
      const again = agentOf("new", make, [answers, answers, answers]).resume(entries);
      expect((await again.result).outcome).toBe("completed");
      for (const model of await modelsOf(again.export())) {
        seen.add(model);
        expect(model).toMatch(/new/);
      }
    }
    for (const model of ["root 1: new", "root/helper 2: new-sub", "root 2: new", "root 4: new-next"])
      expect([...seen]).toContain(model);
  },
);
