// A page that is reloaded at random moments of a conversation with tools, an approval and a subagent.
import { describe, expect, it } from "vitest";
import { createAgent, custom, subagent, tool, type Agent, type Message, type Store } from "looplet";
import { memoryStore } from "looplet/stores";
import type { Answers, OpenQuestion } from "looplet/ui";
import { lines, Screen } from "./kit.js";

/** What outlives a page: the store, the effects in the world, and the time. */
class World {
  readonly effects: string[] = [];
  /** The pages so far. */
  pages = 0;
  #nowMs = 0;
  readonly #kept = memoryStore({ now: () => this.#nowMs });
  #isDead = { now: false };

  /** A page begins, and the one before it is gone: it reaches no store any more, and its leases run out. */
  page(): Screen {
    this.pages += 1;
    this.#isDead.now = true;
    this.#nowMs += 1_000_000;
    const isDead = (this.#isDead = { now: false });
    const alive =
      (name: keyof Store) =>
      (...given: never[]): unknown =>
        isDead.now ? new Promise(() => {}) : (this.#kept[name] as (...given: never[]) => unknown)(...given);
    const names = ["append", "load", "lease", "pending", "delete"] as const;
    const store = Object.fromEntries(names.map((name) => [name, alive(name)])) as unknown as Store;
    return new Screen(this.#agent(store, isDead), { id: "chat", store });
  }

  #agent(store: Store, isDead: { readonly now: boolean }): Agent {
    const acts = (name: string, more: object = {}) =>
      tool({
        description: name,
        inputSchema: { type: "object" },
        ...more,
        execute: async (_, { toolCallId }) => {
          if (!isDead.now) this.effects.push(toolCallId);
          await new Promise((resolve) => setTimeout(resolve, 0));
          return `${name} is done`;
        },
      });
    return createAgent({
      model: custom(answer),
      tools: {
        look: acts("look", { readOnly: true, replay: "safe" }),
        pay: acts("pay", { needsApproval: true }),
        helper: subagent({
          description: "helps",
          tools: { dig: acts("dig", { readOnly: true, replay: "safe" }) },
        }),
      },
      store,
    });
  }
}

/** The model: the next step of the plan that its tools and its transcript show. */
async function* answer({ messages }: { readonly messages: readonly Message[] }) {
  const calls = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_call"));
  const call = (id: string, name: string, input: object = {}) =>
    ({ type: "tool_call", id, name, input }) as const;
  const isHelper = JSON.stringify(messages[0]).includes("Dig for gold");
  for (const word of ["Step ", `${calls.length}`, ".\n\n"]) {
    yield word;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  if (isHelper) {
    if (calls.length === 0) yield call("dig1", "dig");
    return;
  }
  if (calls.length === 0) yield call("look1", "look");
  if (calls.length === 0) yield call("pay1", "pay");
  if (calls.length === 2) yield call("help1", "helper", { prompt: "Dig for gold" });
  if (calls.length === 3) yield call("pay2", "pay");
}

/** Answers what the person is asked: calls may run, and one that had begun was done if the world shows it. */
function answerAll(screen: Screen, effects: readonly string[]): void {
  for (const question of screen.now.questions) {
    const { toolCallId } = question as { toolCallId: string };
    const isDone = effects.includes(toolCallId);
    const given: Answers[keyof Answers] =
      question.kind === "permission"
        ? { behavior: "allow" }
        : isDone
          ? { outcome: "done", output: "pay is done" }
          : { outcome: "run" };
    screen.conversation.answer(
      question as OpenQuestion & { kind: "permission" },
      given as Answers["permission"],
    );
  }
}

/** Numbers in [0, 1), the same for each seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

/** The end of the conversation when the page is reloaded so often. Three ends without progress would stop the run. */
async function talk(seed: number, reloads: number) {
  const random = randomOf(seed);
  const world = new World();
  let screen = world.page();
  let [left, isSent] = [reloads, false];
  let due = 1 + Math.floor(random() * 15);
  for (let step = 0; step < 5000; step++) {
    screen.draw();
    const { status, messages } = screen.now;
    if (status === "error") throw new Error(screen.now.error!.message);
    if (status === "ready" && messages.length === 0) {
      // A prompt that the store has not got is the person's to send again.
      await screen.conversation.send("Go.");
      isSent = true;
    } else if (status === "ready" && isSent && left === 0) {
      return { messages, world };
    } else if (status === "ready") {
      left = 0;
      continue;
    }
    if (random() < 0.7) answerAll(screen, world.effects);
    if (left > 0 && --due === 0) {
      left -= 1;
      due = 1 + Math.floor(random() * 15);
      screen.leave();
      screen = world.page();
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  throw new Error(`the conversation stays ${screen.now.status}: ${lines(screen.now.messages).join(" / ")}`);
}

describe("a page that is reloaded", () => {
  it("draws at the end what a page draws that was never reloaded, and nothing runs twice", async () => {
    const whole = await talk(0, 0);
    const expected = lines(whole.messages);
    expect(expected.at(-1)).toContain("helper output-available");
    let reloads = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const { messages, world } = await talk(seed, 1 + (seed % 2));
      reloads += world.pages - 1;
      expect(lines(messages), `seed ${seed}`).toEqual(expected);
      const payments = world.effects.filter((id) => id.startsWith("pay"));
      expect(payments, `seed ${seed}`).toEqual(["pay1", "pay2"]);
    }
    // In the middle of the run: behind its end no page is reloaded.
    expect(reloads).toBeGreaterThanOrEqual(100);
  }, 60_000);
});
