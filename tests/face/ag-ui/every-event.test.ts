// A page of AG-UI is left at every single event of a run, and its process ends there: the next page draws the same.
import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import { agUiAgent } from "looplet/ag-ui";
import { answerTo, tick, World } from "../support/processes.js";

const pageOf = (world: World): any =>
  agUiAgent(world.agent(), { HttpAgent, config: { threadId: "t" }, keepRunning: true });

/** The answers of a person to the open interrupts. */
const resumeOf = (interrupts: readonly any[]): object[] =>
  interrupts.map(({ id, reason }) => ({ interruptId: id, status: "resolved", payload: payloadOf(reason) }));

function payloadOf(reason: string): unknown {
  if (reason === "tool_call") return { approved: true };
  if (reason === "looplet:reconcile") return answerTo({ kind: "reconcile" });
  return { count: 2 };
}

/** Asks, answers and goes on until the page has the last text. `isLeft` ends a page's part. */
async function used(page: any, isLeft: () => boolean): Promise<boolean> {
  await page.connectAgent();
  for (let turns = 0; turns < 20 && !isLeft(); turns++) {
    const { messages, pendingInterrupts } = page;
    if (messages.at(-1)?.content === "Step 5.") return true;
    if (pendingInterrupts?.length > 0) await page.runAgent({ resume: resumeOf(pendingInterrupts) });
    else {
      if (messages.length === 0) page.addMessage({ id: "u1", role: "user", content: "Go." });
      await page.runAgent();
    }
  }
  return false;
}

/** A message, and the path of the subagent that it is from. The ids of calls that are asked for again differ. */
const line = ({ role, content, toolCalls = [], subagentRunId = "" }: any): string =>
  [
    subagentRunId.split(":")[1] ?? "root",
    `${role}: ${typeof content === "string" ? content : ""}`,
    toolCalls.map((call: any) => call.function.name).join(),
  ].join(" ");

const linesOf = ({ messages }: any): string[] =>
  messages.filter(({ role }: any) => role !== "activity").map(line);

async function talk(at: number) {
  const world = new World();
  let page = pageOf(world);
  let number = 1;
  let isOver = false;
  const errors: unknown[] = [];
  const open = (): void => {
    const mine = number;
    page = pageOf(world);
    used(page, () => mine !== number).then(
      (isDone) => (isOver ||= isDone && mine === number),
      (error) => mine === number && errors.push(error),
    );
  };
  world.onEvent = () => {
    if (number > 1 || world.seen !== at) return;
    number = 2;
    world.end();
    open();
  };
  open();
  for (let step = 0; step < 5_000 && !isOver; step++) {
    if (errors.length > 0) throw errors[0];
    await tick();
  }
  if (!isOver) throw new Error(`event ${at}: it stays: ${linesOf(page).join(" / ")}`);
  return { drawn: linesOf(page), events: world.seen };
}

it("an agent of AG-UI is drawn as in a page that was never left", async () => {
  const { drawn, events } = await talk(0);
  expect(drawn).toHaveLength(13);
  expect(drawn.filter((one) => one.startsWith("root/helper"))).toHaveLength(4);
  for (let at = 1; at <= events; at++) expect((await talk(at)).drawn, `event ${at}`).toEqual(drawn);
}, 60_000);

it("a page of AG-UI that is loaded again whenever its run waits is drawn as one that was never left", async () => {
  const { drawn } = await talk(0);
  const first = pageOf(new World());
  let page = first;
  for (let loads = 1; page.messages.at(-1)?.content !== "Step 5."; loads++) {
    if (loads > 10) throw new Error(`it stays: ${linesOf(page).join(" / ")}`);
    // Only its server has the run.
    page = first.clone();
    page.setMessages([]);
    const asks = { now: 0 };
    await used(page, () => page.pendingInterrupts.length > 0 && asks.now++ > 0);
  }
  expect(linesOf(page)).toEqual(drawn);
}, 60_000);
