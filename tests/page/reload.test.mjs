// What a reload of the page leaves of a conversation, and what comes of a run that did not end well.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("a conversation that is reloaded", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const chat = () => visitor.page.getByRole("group", { name: "All runs of this chat" });
  const reload = async () => {
    await visitor.page.reload();
    await visitor.page.clock.runFor(100);
  };

  test("looks as before and goes on, with events and traces of its runs", async () => {
    await visitor.ask("Hand over to the archivist, then look up keys in the archive");
    await visitor.say("Look up limits in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    await visitor.until(visitor.summaries.nth(1));
    const [before, figures] = [await visitor.transcript.innerText(), await chat().innerText()];
    assert.match(before, /steer/);
    await reload();
    assert.equal(await visitor.transcript.innerText(), before);
    assert.equal(await chat().innerText(), figures);
    assert.equal(await visitor.page.locator("#welcome").isVisible(), false);
    assert.equal(await visitor.button("Stop").isVisible(), false);
    const types = await visitor.page
      .locator(".rows > li")
      .evaluateAll((rows) => rows.map(({ dataset }) => dataset.type));
    assert.equal(types.filter((type) => type === "run-start").length, 2);
    await visitor.button("Trace").click();
    const trace = visitor.page.getByRole("complementary", { name: "Trace" });
    assert.deepEqual(await trace.locator("option").allInnerTexts(), ["Run 1", "Run 2"]);
    assert.ok((await trace.locator("tbody .name").allInnerTexts()).includes("slow_lookup"));
    assert.equal(await trace.locator("[data-state=open]").count(), 0);

    // The model has the history: it can be summarised.
    await visitor.openControls();
    await visitor.button("Compact now").click();
    await visitor.ask("What is 7 * 8?");
    assert.match(await visitor.summaries.nth(2).innerText(), /^Run 3\s+completed/);
    await visitor.transcript.locator(".divider details summary").press("Enter");
    assert.match(
      await visitor.transcript.locator(".divider details p").innerText(),
      /Asked: Hand over to the archivist/,
    );
  });

  test("keeps what a run had done by then, and says so", async () => {
    await visitor.say("What is 6 * 7, and look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await reload();
    assert.match(await visitor.transcript.innerText(), /The run ended when the page was left/);
    assert.match(await visitor.card("calculator").innerText(), /done[\s\S]*42/);
    assert.match(await visitor.card("slow_lookup").innerText(), /not finished/);
    assert.match(await visitor.summaries.innerText(), /cancelled/);
    await visitor.ask("What time is it in Tokyo?");
    assert.match(await visitor.card("time").innerText(), /Asia\/Tokyo/);
  });

  test("is gone after a new chat", async () => {
    await visitor.ask("What is 6 * 7?");
    await visitor.button("New chat").click();
    await reload();
    assert.equal(await visitor.transcript.innerText(), "");
    assert.equal(await visitor.page.locator("#welcome").isVisible(), true);
  });

  test("belongs to its tab", async () => {
    await visitor.ask("What is 6 * 7?");
    const other = await visitor.context.newPage();
    await other.goto(visitor.page.url());
    assert.equal(await other.locator("#transcript").innerText(), "");
  });

  test("is forgotten without a word where the tab has no room for it, or what it kept is broken", async () => {
    await visitor.page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.answers.last().innerText(), /42/);
    await reload();
    assert.equal(await visitor.transcript.innerText(), "");
    await visitor.page.evaluate(() => sessionStorage.setItem("looplet.chat", "{"));
    await reload();
    await visitor.ask("What is 6 * 7?");
    assert.equal(await visitor.summaries.count(), 1);
  });
});
