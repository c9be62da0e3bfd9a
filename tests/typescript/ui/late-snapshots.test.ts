// A loop that begins late, while a tool works between two answers: each text of the run stands once.
import { expect, it } from "vitest";
import { createAgent, custom, tool, type Run, type RunEvent } from "looplet";
import { toAgUi } from "looplet/ag-ui";
import { uiStream } from "looplet/ai-sdk";
import { reduce, viewOf } from "looplet/ui";
import { inputOf } from "./ag-ui/kit.js";

/** A run whose first answer is over, and whose tool works until `go` is called. */
async function between(): Promise<{ run: Run; go: () => void }> {
  let go!: () => void;
  const gone = new Promise<void>((resolve) => (go = resolve));
  const look = tool({
    description: "look",
    inputSchema: { type: "object" },
    async execute() {
      begun();
      await gone;
      return "seen";
    },
  });
  let begun!: () => void;
  const began = new Promise<void>((resolve) => (begun = resolve));
  const model = custom(function* ({ messages }) {
    yield messages.length === 1 ? "I look." : "I have looked.";
    if (messages.length === 1) yield { type: "tool_call", id: "l", name: "look", input: {} };
  });
  const run = createAgent({ model, tools: { look } }).run("Go.");
  await began;
  await new Promise((resolve) => setTimeout(resolve, 0));
  return { run, go };
}

async function all<T>(pieces: AsyncIterable<T>, go: () => void): Promise<T[]> {
  const got: T[] = [];
  for await (const piece of pieces) {
    got.push(structuredClone(piece));
    go();
  }
  return got;
}

it("has no text of an answer that is over", async () => {
  const { run, go } = await between();
  const events = await all<RunEvent>(run.events(), go);
  expect(events[0]).toMatchObject({ type: "snapshot", text: "" });
  const texts = events.reduce(reduce, viewOf()).messages.flatMap(({ parts }) => parts);
  expect(texts.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
    "Go.",
    "I look.",
    "I have looked.",
  ]);
});

it("is told once by AG-UI", async () => {
  const { run, go } = await between();
  const events = await all(toAgUi(run, inputOf()), go);
  const [snapshot] = events.filter(({ type }) => type === "MESSAGES_SNAPSHOT") as any[];
  const said = snapshot.messages.filter(({ role }: any) => role === "assistant");
  expect(said.map(({ content }: any) => content)).toEqual(["I look."]);
});

it("is told once by the AI SDK's stream", async () => {
  const { run, go } = await between();
  const chunks = await all<any>(uiStream(run) as never, go);
  const text = chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [chunk.delta] : [])).join("|");
  expect(text).toBe("I look.|I have looked.");
});
