// `looplet/workers` in Chromium: agents in workers and in an extension that are killed, and tabs that share one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  assertWhole,
  comeToAnswer,
  comeToEnd,
  expected,
  inChromium,
  inExtension,
  installPages,
  open,
  places,
  seenOf,
  until,
  untilSeen,
} from "./workers-kit.mjs";

let remove;
before(async () => {
  if (!inChromium.skip) remove = await installPages();
});
after(() => remove?.());

for (const place of Object.keys(places)) {
  test(`an agent in a ${place} worker serves its page`, inChromium, () =>
    open(`/${place}/`, async (page, steps, errors) => {
      await until(page, "ready");
      await comeToAnswer(page, steps);
      steps.go("answer");
      await until(page, "done: ");
      assert.equal(await page.title(), expected);
      await assertWhole(page);
      assert.deepEqual([steps.counts, errors], [{ "pay-1": 1, answer: 1 }, []]);
    }),
  );
}

test(
  "a service worker that is ended in the middle of a run goes on, and its page misses nothing",
  inChromium,
  () =>
    open("/service/", async (page, steps) => {
      await until(page, "ready");
      await comeToAnswer(page, steps);
      const session = await page.context().newCDPSession(page);
      await session.send("ServiceWorker.enable");
      await session.send("ServiceWorker.stopAllWorkers");
      // The request that was cut off is sent again.
      await steps.reached("answer", 2);
      await comeToEnd(page, steps);
    }),
);

test("a page that comes back gets what it has missed behind its cursor", inChromium, () =>
  open("/shared/", async (page, steps) => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    for (const each of [page, other]) await until(each, "ready");
    await page.evaluate(() => void chat.run("Pay."));
    await steps.reached("pay-1");
    await untilSeen(page, "tool-call");
    const [id, cursor, seen] = await page.evaluate(() => [run.id, run.cursor, window.seen]);
    await page.goto("about:blank");
    steps.go("pay-1");
    await steps.reached("answer");
    steps.go("answer");
    await until(other, "done: ");
    await page.goto(other.url());
    await until(page, "ready");
    const missed = await page.evaluate(
      async ([id, after]) => {
        const events = [];
        for await (const event of agent.attach(id, { after })) events.push([event.seq, told(event)]);
        return events;
      },
      [id, cursor],
    );
    await assertWhole(other, [...seen, ...missed]);
    await assertWhole(other);
  }),
);

/** Opens two tabs that share an agent, with a run that the first has begun and performs. */
function twoTabs(use) {
  return open("/tabs/", async (first, steps) => {
    await until(first, "ready");
    const second = await first.context().newPage();
    await second.goto(first.url());
    await until(second, "ready");
    assert.deepEqual([await isHost(first), await isHost(second)], [true, false]);
    await comeToAnswer(first, steps);
    await untilSeen(second, "Paid: ");
    await use(first, second, steps);
  });
}

const isHost = (page) => page.evaluate(() => agent.isHost);

test("two tabs show one run", inChromium, () =>
  twoTabs(async (first, second, steps) => {
    steps.go("answer");
    for (const tab of [first, second]) {
      await until(tab, "done: ");
      assert.equal(await tab.title(), expected);
    }
    assert.deepEqual(await seenOf(second), await seenOf(first));
    await assertWhole(first);
    await second.evaluate(() => void chat.run("Pay."));
    await steps.reached("pay-5");
    await untilSeen(first, "tool-call");
    assert.deepEqual(steps.counts, { "pay-1": 1, answer: 1, "pay-5": 1 });
  }),
);

test("a tab takes over from one that is closed in the middle of a run", inChromium, () =>
  twoTabs(async (first, second, steps) => {
    await first.close();
    await steps.reached("answer", 2);
    assert.equal(await isHost(second), true);
    await comeToEnd(second, steps);
  }),
);

test("a frozen tab that wakes up does not write over its successor", inChromium, () =>
  twoTabs(async (first, second, steps) => {
    const session = await first.context().newCDPSession(first);
    await session.send("Debugger.enable");
    await session.send("Debugger.pause");
    // The tab stands still with its lock, and its request has an answer when it wakes up.
    await steps.reached("answer", 2);
    assert.equal(await isHost(second), true);
    steps.go("answer");
    await session.send("Debugger.disable");
    for (const tab of [first, second]) {
      await until(tab, "done: ");
      assert.equal(await tab.title(), expected);
      await assertWhole(tab);
    }
    assert.deepEqual([await isHost(first), await isHost(second)], [false, true]);
    const texts = await second.evaluate(async () => (await agent.readChat("chat")).messages.length);
    assert.deepEqual([texts, steps.counts["pay-1"]], [4, 1]);
  }),
);

test("an extension's service worker that is ended in the middle of a run goes on", inChromium, () =>
  inExtension(async (page, steps, kill) => {
    await comeToAnswer(page, steps);
    await kill();
    await steps.reached("answer", 2);
    await comeToEnd(page, steps);
  }),
);
