import { expect, it } from "vitest";
import { createAgent, custom, handoff, type Message } from "looplet";
import { memoryStore } from "looplet/stores";

it("a handoff whose filter is gone when its run resumes hands over the whole conversation", async () => {
  let shiftMs = 0;
  let hasCrashed = false;
  const now = (): number => Date.now() + shiftMs;
  const kept = memoryStore({ now });
  const store = {
    ...kept,
    append: (...given: Parameters<typeof kept.append>) =>
      hasCrashed ? new Promise<void>(() => {}) : kept.append(...given),
  };
  const read: (readonly Message[])[] = [];
  const made = (on: typeof store, inputFilter?: () => Promise<Message[]>) => {
    const other = createAgent({
      model: custom(({ messages }) => {
        read.push(messages as readonly Message[]);
        return "I take it from here.";
      }),
    });
    return createAgent({
      store: on,
      clock: {
        now,
        setTimer: (due, delayMs) => setTimeout(due, delayMs),
        clearTimer: (timer) => clearTimeout(timer as never),
      },
      model: custom(async function* () {
        yield { type: "tool_call", id: "c1", name: "other", input: {} };
      }),
      tools: { other: handoff(other, { description: "Knows more", inputFilter }) },
    });
  };
  let ask = (): void => {};
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const run = made(store, () => (ask(), new Promise(() => {}))).run("What is due?", { id: "r" });
  await asked;
  await run.saved();
  hasCrashed = true;
  shiftMs = 100_000;
  const result = await made(kept as never).resume("r").result;
  expect(result).toMatchObject({ outcome: "completed", text: "I take it from here." });
  expect(JSON.stringify(read.at(-1))).toContain("What is due?");
});
