// What simulated runs come to: equal in every host.
import { anthropic, createAgent, gemini, openai, subagent, tool } from "looplet";
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

/** The digests of runs with each of three models, their outcomes, and the story of a failure. */
export async function simulated(seeds = 25) {
  const told = [];
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
      return createAgent({
        ...own,
        store: memoryStore(),
        timeouts: { toolMs: 60_000 },
        tools: { charge, helper },
      });
    };
    const outcomes = new Set();
    const invariants = [({ outcome }) => void outcomes.add(outcome)];
    const { digest } = await simulate(agent, { seeds, invariants });
    told.push(digest, [...outcomes].sort().join(" "));
    if (model !== openai) continue;
    const found = { seeds: 200, invariants: [neverTwice("payment")], world: { only: ["crash"] } };
    told.push(await simulate(agent, found).catch(({ message }) => message));
  }
  return told.join("\n");
}
