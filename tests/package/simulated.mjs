// What simulated runs come to: equal in every host.
import { anthropic, createAgent, gemini, openai, subagent, tool } from "looplet";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { neverTwice, simulate } from "looplet/testing";

const inputSchema = {
  type: "object",
  properties: {
    cents: { type: "integer" },
    kind: { enum: ["one", "two", "three"] },
    note: { type: "string" },
  },
  required: ["cents"],
};

/**
 * The digests of `given` runs with each of three models, their outcomes, and the story of a failure. `hear` hears of
 * each run and of the records of its processes.
 */
export async function simulated(given, hear) {
  const seeds = Number(given || 25);
  const told = [];
  const records = [];
  for (const model of [anthropic, gemini, openai]) {
    const own = { model: model("model", { apiKey: "k", dangerouslyAllowBrowser: true }) };
    const helper = subagent({ ...own, description: "Helps", tools: {} });
    const agent = (world) => {
      const charge = tool({
        description: "Charges",
        inputSchema,
        replay: "safe",
        needsApproval: true,
        async execute({ cents }, { toolCallId }) {
          await world.sleep(50);
          world.effect("payment", toolCallId);
          return { cents };
        },
      });
      const record = recorder()();
      records.push(record);
      return createAgent({
        ...own,
        ...(hear !== undefined && { record: () => record }),
        store: memoryStore(),
        timeouts: { toolMs: 60_000 },
        tools: { charge, helper },
      });
    };
    const outcomes = new Set();
    const note = (run) => {
      outcomes.add(run.outcome);
      const played = records.splice(0);
      hear?.(run, played);
    };
    const { digest } = await simulate(agent, { seeds, invariants: [note] });
    told.push(digest, [...outcomes].sort().join(" "));
    if (model !== openai || hear !== undefined) continue;
    const found = { seeds: 200, invariants: [neverTwice("payment")], world: { only: ["crash"] } };
    told.push(await simulate(agent, found).catch(({ message }) => message));
  }
  return told.join("\n");
}
