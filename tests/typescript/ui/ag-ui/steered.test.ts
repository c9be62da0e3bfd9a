// A page of AG-UI adds a message while its run waits. The page is left at every single event, with its process or
// without it: the next page draws what the chat has, each message once.
import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import { agUiAgent, agUiHandler } from "looplet/ag-ui";
import { tick, World } from "../../support/processes.js";
import { linesOf, STEER, used } from "./pages.js";

interface Place {
  page(): any;
  /** The page is gone; with `isHostGone` its host is too. */
  leave(isHostGone: boolean): void;
}

function inPage(world: World): Place {
  return {
    page: () => agUiAgent(world.agent(), { HttpAgent, config: { threadId: "t" }, keepRunning: true }),
    leave: () => world.end(),
  };
}

/** A page over HTTP. One that was left reads nothing more. */
function onServer(world: World): Place {
  const serve = (): any => agUiHandler(world.agent(), { authorize: () => "ada", keepRunning: true });
  let handle = serve();
  let left = new AbortController();
  return {
    page() {
      const { signal } = left;
      const fetch = async (url: string, init: RequestInit): Promise<Response> => {
        const response: Response = await handle(new Request(url, { ...init, signal: null }));
        const reader = response.body!.getReader();
        if (signal.aborted) void reader.cancel();
        const stream = new ReadableStream<Uint8Array>({
          start: () => signal.addEventListener("abort", () => void reader.cancel().catch(() => {})),
          async pull(controller) {
            const { done, value } = await reader.read();
            if (signal.aborted) return;
            if (done) controller.close();
            else controller.enqueue(value);
          },
        });
        return new Response(stream, response);
      };
      class Connected extends HttpAgent {
        override connect(input: any) {
          return new HttpAgent({ url: `${this.url}/connect`, fetch } as any).run(input);
        }
      }
      return new Connected({ url: "http://server.test/agent", threadId: "t", fetch } as any);
    },
    leave(isHostGone) {
      left.abort();
      left = new AbortController();
      if (!isHostGone) return;
      world.end();
      handle = serve();
    },
  };
}

/** The root's messages, and those of its subagent: where those are among the others differs. */
const byAgent = (lines: readonly string[]): string[] => [
  ...lines.filter((one) => one.startsWith("root ")),
  ...lines.filter((one) => !one.startsWith("root ")),
];

async function talk(make: (world: World) => Place, steerAt: number, at: number, isHostGone: boolean) {
  const world = new World();
  const place = make(world);
  const waits = { now: 0 };
  let page: any;
  let number = 0;
  let isOver = false;
  const errors: unknown[] = [];
  const open = (): void => {
    const mine = (number += 1);
    page = place.page();
    used(page, () => mine !== number, steerAt, waits).then(
      (isDone) => (isOver ||= isDone && mine === number),
      (error) => mine === number && errors.push(error),
    );
  };
  world.onEvent = () => {
    if (number > 1 || world.seen !== at) return;
    place.leave(isHostGone);
    open();
  };
  open();
  for (let step = 0; step < 5_000 && !isOver; step++) {
    if (errors.length > 0) throw new Error(`event ${at}: ${String(errors[0])}`);
    await tick();
  }
  if (!isOver) throw new Error(`event ${at}: it stays: ${linesOf(page).join(" / ")}`);
  const last = place.page();
  await last.connectAgent();
  return { drawn: byAgent(linesOf(page)), stored: byAgent(linesOf(last)), events: world.seen };
}

it.each([
  ["in the page", inPage, true, 1],
  ["on a server whose page is reloaded", onServer, false, 1],
  ["on a server that ends", onServer, true, 2],
] as const)(
  "a message that is added to the run of an agent %s is drawn once after a reload",
  async (_, make, isHostGone, steerAt) => {
    const whole = await talk(make, steerAt, 0, false);
    expect(whole.drawn, "never left").toEqual(whole.stored);
    for (let at = 1; at <= whole.events; at++) {
      const { drawn, stored } = await talk(make, steerAt, at, isHostGone);
      expect(drawn, `event ${at}`).toEqual(stored);
      expect(stored.filter((line) => line.includes(STEER)).length, `event ${at}`).toBe(1);
    }
  },
  90_000,
);
