// An extension without a page, whose service worker is ended in mid-run: Chromium's alarm wakes it, and the run goes
// on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  assertWhole,
  comeToAnswer,
  expected,
  inChromium,
  inExtension,
  installPages,
  until,
} from "../workers-kit.mjs";

let remove;
before(async () => {
  if (!inChromium.skip) remove = await installPages();
});
after(() => remove?.());

test("an extension's run goes on without any page", inChromium, () =>
  inExtension(async (page, steps, kill) => {
    const address = page.url();
    await comeToAnswer(page, steps);
    const [id, cursor] = await page.evaluate(() => [run.id, run.cursor]);
    const seen = await page.evaluate(() => window.seen);
    await page.goto("about:blank");
    await kill();
    // Chromium fires an alarm at most twice a minute.
    await steps.reached("answer", 2);
    steps.go("answer");
    await page.goto(address);
    await until(page, "ready");
    const missed = await page.evaluate(
      async ([id, after]) => {
        window.run = agent.attach(id, { after });
        const events = [];
        for await (const event of run) events.push([event.seq, told(event)]);
        const { outcome, text } = await run.result;
        document.title = `done: ${outcome} ${text}`;
        return events;
      },
      [id, cursor],
    );
    assert.equal(await page.title(), expected);
    await assertWhole(page, [...seen, ...missed]);
    assert.equal(steps.counts["pay-1"], 1);
  }),
);
