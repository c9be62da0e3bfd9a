/** Journals of many entries, on their way from the store into the engine. */
import { expect, it } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import type { Agent, JournalEntry, RunEvent, Store } from "looplet";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { memoryStore } from "looplet/stores";

const ROUNDS = 40;

/** An agent that looks something up in each round, and what it has looked up. */
function looker(store: Store, turns: ScriptedTurn[]) {
  const looked: string[] = [];
  const agent = createAgent({
    model: anthropic("big", { apiKey: "k" }),
    fetch: scripted(turns),
    store,
    maxIterations: 2 * ROUNDS,
    tools: {
      look: tool({
        description: "Looks",
        inputSchema: { type: "object", properties: {} },
        replay: "once",
        execute(_, { toolCallId }) {
          looked.push(toolCallId);
          return `🦊 ü 漢 \u2028 ${toolCallId}`;
        },
      }),
    },
  });
  return { agent: agent as Agent, looked };
}

const rounds = (from: number, to: number): ScriptedTurn[] =>
  Array.from({ length: to - from }, (_, at) => ({
    toolCalls: [{ id: `c${from + at}`, name: "look", input: {} }],
  }));

/** A store with the journal of a run that ended with its first answer without a call. */
async function ended(turns: ScriptedTurn[]) {
  const store = memoryStore();
  const run = looker(store, turns).agent.run("Look.", { id: "run" });
  const { messages } = await run.result;
  await run.saved();
  const entries = (await store.load("run"))!;
  return { store, messages, entries };
}

const without = (entries: readonly JournalEntry[], from: number): JournalEntry[] =>
  entries.filter(({ seq }) => seq < from);

/** The number of the first entry that has this text. */
const numberOf = (entries: readonly JournalEntry[], text: string): number =>
  entries.find(({ json }) => json.includes(text))!.seq;

it("a run goes on behind hundreds of entries, and nothing of them is lost", async () => {
  const { entries, messages } = await ended([...rounds(0, ROUNDS), { text: "Done." }]);
  const cut = without(entries, numberOf(entries, "Done."));
  expect(cut.length).toBeGreaterThan(300);
  const { agent, looked } = looker(memoryStore(), [{ text: "Done." }]);
  const result = await agent.resume(cut).result;
  expect(result.outcome).toBe("completed");
  expect(looked).toEqual([]);
  expect(result.messages).toEqual(messages);
});

it("a long journal is read once more if its last state cannot be read", async () => {
  const { entries } = await ended([...rounds(0, ROUNDS), { text: "Done." }]);
  const cut = without(entries, numberOf(entries, `"c${ROUNDS - 1}"`));
  const last = cut.map(({ json }) => json.includes('"state"')).lastIndexOf(true);
  const seq = cut[last]!.seq;
  const damaged = cut.map((entry, at) =>
    at === last ? { seq, json: JSON.stringify({ seq, agent: 0, fact: { state: "no state" } }) } : entry,
  );
  const { agent, looked } = looker(memoryStore(), [{ text: "Done." }]);
  const codes: string[] = [];
  const onEvent = (event: RunEvent): void => void (event.type === "warning" && codes.push(event.code));
  const { outcome, toolCalls } = await agent.resume(damaged, { onEvent }).result;
  expect([outcome, codes, looked]).toEqual(["completed", ["journal_torn"], []]);
  expect(toolCalls).toHaveLength(ROUNDS - 1);
});
