// A page of AG-UI is left at every single event of a run, and its process ends there: the next page draws the same.
import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import { agUiAgent } from "looplet/ag-ui";
import { tick, World } from "../../support/processes.js";
import { linesOf, used } from "./pages.js";

const pageOf = (world: World): any =>
  agUiAgent(world.agent(), { HttpAgent, config: { threadId: "t" }, keepRunning: true });

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
