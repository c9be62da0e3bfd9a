// A process with many runs at the same time on one folder: `node renewing-life.mjs <folder> <from> <to> <count>
// <seconds>`. It has the runs from one number to another, and opens those of all `count` numbers meanwhile. It
// prints how often it has seen each end.
import { createAgent, custom, tool } from "looplet";
import { fileStore } from "looplet/stores/node";

const [, , folder, ...numbers] = process.argv;
const [from, to, count, seconds] = numbers.map(Number);
const beganMs = Date.now();
const isAfter = (ms) => Date.now() - beganMs > ms;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const agent = createAgent({
  store: fileStore(folder),
  limits: { maxIterations: 10_000, repeat: false },
  model: custom(async function* ({ messages }) {
    await pause(2000 + Math.random() * 2000);
    yield "Working. ";
    if (!isAfter(seconds * 1000))
      yield { type: "tool_call", id: `call${messages.length}`, name: "look", input: {} };
  }),
  tools: {
    look: tool({
      description: "Looks",
      inputSchema: { type: "object" },
      readOnly: true,
      async execute() {
        await pause(200);
        return "seen";
      },
    }),
  },
});

const ends = {};
const note = (end) => (ends[end] = (ends[end] ?? 0) + 1);
/** Opens runs that are under way, here or in another process. Processes do not begin in the same second. */
async function openOthers() {
  await pause(5000);
  for (; !isAfter(seconds * 1000 - 5000); await pause(500)) {
    const id = `run${Math.floor(Math.random() * count)}`;
    const { outcome, error } = await agent.resume(id).result;
    note(`second opener: ${outcome} ${error?.code ?? ""}`);
  }
}
async function work(number) {
  const run = agent.run("Look around.", { id: `run${number}` });
  const { outcome, abortReason, error, iterations, messages } = await run.result;
  await run.saved();
  const isWhole = messages.length === 2 * iterations;
  note(["run:", outcome, abortReason, error?.code, isWhole ? "" : "with messages missing"].join(" ").trim());
}
const runs = Array.from({ length: to - from }, (_, at) => work(from + at));
await Promise.all([...runs, openOthers()]);
console.log(JSON.stringify(ends));
