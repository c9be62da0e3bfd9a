/** Tools of pages in the runs of a worker. */
import { expect, it, vi } from "vitest";
import { conversation } from "looplet/ui";
import { connectAgent } from "looplet/workers";
import { ends, Place } from "../../support/worker-kit.js";
import { PageKit, PageWork, virtualTime } from "./kit.js";

virtualTime();

function served(kit: PageKit): Place {
  const place = new Place();
  place.serve(kit.agent(), { store: kit.store });
  return place;
}

function page(place: Place, tools: object) {
  const agent = connectAgent(place.endpoint, { heartbeatMs: 20, tools: tools as never });
  ends.push(() => agent.disconnect());
  return agent;
}

it("a tool of a page is run by one of the pages of a worker, also after the worker ends", async () => {
  const kit = new PageKit();
  kit.live();
  const place = served(kit);
  const [first, second] = [new PageWork(), new PageWork()];
  const chat = await page(place, { locate: first.run }).openChat("a");
  const run = chat.run("locate");
  await vi.waitFor(() => expect(first.calls).toHaveLength(1));
  await page(place, { locate: second.run }).openChat("a");
  place.kill();
  kit.live();
  place.serve(kit.agent(), { store: kit.store });
  await vi.advanceTimersByTimeAsync(200_000);
  first.calls[0]!.give("here");
  expect((await run.result).outcome).toBe("completed");
  expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
  expect(kit.results).toEqual(["here"]);
});

it("a call of a page is no question for the person at the screen", async () => {
  const kit = new PageKit();
  const work = new PageWork();
  const screen = conversation(page(served(kit), { locate: work.run }), { id: "a" });
  const seen = new Set<string>();
  screen.subscribe(() => {
    const { status, questions } = screen.getSnapshot();
    seen.add(`${status} ${questions.length}`);
  });
  await screen.send("locate");
  await vi.waitFor(() => expect(work.calls).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(1000);
  expect(screen.getSnapshot()).toMatchObject({ status: "streaming", questions: [] });
  work.calls[0]!.give("here");
  await vi.waitFor(() => expect(screen.getSnapshot().status).toBe("ready"));
  expect([...seen].filter((one) => /waiting|[1-9]$/.test(one))).toEqual([]);
});
