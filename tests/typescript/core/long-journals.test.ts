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
    limits: { maxIterations: 2 * ROUNDS },
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

it("a resumed run asks its store for the whole journal once, and then for what its last holder has added", async () => {
  const { store, entries } = await ended([...rounds(0, 3), { text: "Done." }]);
  const seen = numberOf(entries, '"c2"');
  const all = without(entries, numberOf(entries, "Done."));
  let isLeased = false;
  const asked: (number | undefined)[] = [];
  const shared: Store = {
    append: () => {},
    load(_, after = 0) {
      asked.push(after);
      return (isLeased ? all : without(all, seen)).filter(({ seq }) => seq > after);
    },
    lease(key, options) {
      isLeased = true;
      return store.lease(key, { ...options, takeOver: true });
    },
    pending: () => [],
  };
  const { agent, looked } = looker(shared, [{ text: "Done." }]);
  const { outcome, toolCalls } = await agent.resume("run").result;
  expect([outcome, looked, toolCalls.length]).toEqual(["completed", [], 3]);
  expect(asked).toEqual([0, seen - 1]);
});

it("a chat asks its store for the end of its journal alone before a run", async () => {
  const store = memoryStore();
  const asked: (number | undefined)[] = [];
  const watched: Store = {
    ...store,
    load(key, after) {
      asked.push(after);
      return store.load(key, after);
    },
  };
  const { agent } = looker(watched, [...rounds(0, 3), { text: "One." }, { text: "Two." }]);
  const chat = await agent.openChat("chat");
  await chat.run("First.").result;
  await chat.saved();
  const last = (await store.load("chat"))!.length;
  asked.length = 0;
  const { outcome } = await chat.run("Second.").result;
  expect([outcome, asked]).toEqual(["completed", [last - 1]]);
});

it("a store that knows no numbers gives all entries each time, and they count once", async () => {
  const { store, entries } = await ended([...rounds(0, 3), { text: "Done." }]);
  const all = without(entries, numberOf(entries, "Done."));
  const plain: Store = { ...store, append: () => {}, load: () => all };
  const { agent, looked } = looker(plain, [{ text: "Done." }]);
  const { outcome, toolCalls } = await agent.resume("run", { takeOver: true }).result;
  expect([outcome, looked, toolCalls.length]).toEqual(["completed", [], 3]);
});
