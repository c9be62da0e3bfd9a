// The page is reloaded within a run with parallel calls, two approvals, a subagent that asks and a steer. What it
// draws is what a page draws that was never reloaded. `tests/typescript/ui/playground` does so at every event,
// without a browser.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

const prompt =
  "Save the note: water the plants, and ask the secretary to save the note: call Ada, and what is 6 * 7?";
const steer = "Also calculate 7 * 8";

describe("a run that is reloaded", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const approvals = () => visitor.page.locator(".approval");
  const events = () => visitor.page.locator(".rows > li").count();
  const isSaid = () => visitor.page.locator(".asked, .queue").filter({ hasText: steer }).count();

  /** Does what a person does: adds a message while two calls wait, and then lets everything run. */
  const act = async () => {
    if (!(await isSaid())) {
      if ((await approvals().count()) !== 2) return;
      await visitor.say(steer);
      // The page draws it in a later frame. Until then it would be said again.
      while (!(await isSaid())) await visitor.page.clock.runFor(10);
      return;
    }
    for (const name of ["Allow", "Run it again"]) {
      const button = approvals().getByRole("button", { name, exact: true }).first();
      if (await button.isVisible()) await button.click();
    }
  };
  /** Talks to the end, or to this number of events. */
  const talk = async (most = Infinity) => {
    for (let steps = 0; steps < 500; steps += 1) {
      if ((await events()) >= most) return;
      if (await visitor.summaries.count()) return;
      await act();
      await visitor.page.clock.runFor(most === Infinity ? 100 : 10);
    }
    throw new Error(`It stays:\n${await visitor.transcript.innerText()}`);
  };
  /** What is drawn, without figures, and without the words on the reload. */
  const drawn = async () => {
    const parts = await visitor.transcript
      .locator(".asked, .markdown, .reasoning, .tool, .summary .badge")
      .evaluateAll((all) => all.map(({ textContent }) => textContent));
    return parts.map((text) => text.replaceAll(/ · [\d.]+ \w+/g, "").replaceAll(/\d+/g, "n"));
  };

  let whole;
  test("is drawn as it was, if it never is", async () => {
    await visitor.say(prompt);
    await talk();
    whole = await drawn();
    assert.match(whole.join("\n"), /steerAlso calculate n \* n/);
    await visitor.page.reload();
    await visitor.until(visitor.summaries);
    assert.deepEqual(await drawn(), whole);
  });

  // The first answer, its calls, the open approvals, the results, the steer and the last answer, of 160 events.
  for (const at of [1, 44, 64, 84, 124, 150])
    test(`is drawn as one that never was, after ${at} events`, async () => {
      await visitor.say(prompt);
      await talk(at);
      await visitor.page.reload();
      await talk();
      assert.deepEqual(await drawn(), whole);
      const notes = await visitor.page.evaluate(() => JSON.parse(localStorage.getItem("looplet.notes")));
      assert.deepEqual(new Set(notes.map(({ text }) => text)), new Set(["call Ada", "water the plants"]));
    });
});
