// A reload of the page: the conversation is there again, and a run in its middle goes on.
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

  /** The ids of the chats that have a journal. */
  const journaled = () =>
    visitor.page.evaluate(async () => {
      const wait = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
      const database = await wait(indexedDB.open("looplet-playground"));
      const keys = await wait(database.transaction("entries").objectStore("entries").getAllKeys());
      database.close();
      return [...new Set(keys.map(([id]) => id))].filter((id) => id !== "looplet.sessions");
    });

  test("looks as before and goes on, with the events of its runs", async () => {
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

  test("asks the form of a tool again, and the call continues with its answer", async () => {
    const { page } = visitor;
    const form = page.getByRole("group", { name: "Question of plan_dinner" });
    await page.getByRole("button", { name: /A tool that asks you/ }).click();
    await visitor.until(form);
    await reload();
    await visitor.until(form);
    assert.match(await visitor.card("plan_dinner").innerText(), /^asks you/);
    // The browser checks the form: a number of guests is needed.
    await form.getByRole("button", { name: "Send" }).click();
    assert.equal(await form.isVisible(), true);
    await form.getByLabel("Guests").fill("4");
    await form.getByLabel("Dish").selectOption("Curry");
    await form.getByLabel("With a dessert").check();
    await form.getByRole("button", { name: "Send" }).click();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.card("plan_dinner").innerText(), /"guests":4,"dish":"Curry","dessert":true/);
    assert.equal(await form.count(), 0);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("goes on with a run in its middle: what is done stays, what was under way is done again", async () => {
    await visitor.ask("What is 2 * 3?");
    await visitor.say("What is 6 * 7, and look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.until(visitor.card("calculator").nth(1).getByText("done"));
    await reload();
    await visitor.until(visitor.summaries.nth(1));
    const text = await visitor.transcript.innerText();
    assert.match(text, /6 \* 7, and look up[^]*The page was reloaded here\. The run continues/);
    assert.match(await visitor.card("calculator").nth(1).innerText(), /done[\s\S]*42/);
    assert.match(await visitor.card("slow_lookup").innerText(), /^done/);
    assert.equal(await visitor.card("slow_lookup").count(), 1);
    assert.match(
      await visitor.summaries.nth(1).innerText(),
      /^Run 2\s+completed\s+2 iterations\s+2 tool calls/,
    );
    assert.match(await visitor.answers.last().innerText(), /42/);
    // The conversation goes on from there, and the next reload shows all of it.
    await visitor.ask("What time is it in Tokyo?");
    const before = await visitor.transcript.innerText();
    await reload();
    assert.equal(await visitor.transcript.innerText(), before);
    assert.equal((await journaled()).length, 1);
  });

  test("asks an open approval again, with what was chosen for the run", async () => {
    await visitor.openControls();
    await visitor.page.getByRole("combobox", { name: "Model" }).selectOption({ index: 1 });
    const approval = visitor.page.getByRole("group", { name: "Approval of add_note" });
    await visitor.say("Save the note: water the plants");
    await visitor.until(approval);
    await reload();
    await visitor.until(approval);
    await reload();
    await visitor.until(approval);
    assert.match(await visitor.page.getByRole("status").innerText(), /1 call waits for you/);
    assert.match(await visitor.page.locator(".controls-toggle").innerText(), /practice-mini/);
    await approval.getByRole("button", { name: "Allow", exact: true }).click();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /completed/);
    const notes = await visitor.page.evaluate(() => localStorage.getItem("looplet.notes"));
    assert.equal(JSON.parse(notes).length, 1);
  });

  test("shows the words of an answer that was cut off, and the answer that takes its place", async () => {
    await visitor.say("Tell me about looplet");
    await visitor.until(visitor.answers);
    await visitor.page.clock.runFor(200);
    await reload();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.transcript.innerText(), /The page was reloaded here/);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("delivers a steer that was still queued", async () => {
    await visitor.say("Look up limits in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    const waiting = visitor.page.getByRole("list", { name: "Waiting to be delivered" });
    // A page that is gone before it has shown the message has not saved it either.
    await waiting.waitFor();
    await reload();
    // A slow machine may see the message only when the model has it.
    await visitor.until(waiting.or(visitor.summaries).first());
    await visitor.until(visitor.summaries);
    assert.match(await visitor.transcript.innerText(), /steer\s+Also calculate 6 \* 7/);
    assert.match(await visitor.card("calculator").innerText(), /42/);
  });

  test("has a steer that a stop gave back still in the field", async () => {
    await visitor.say("Look up limits in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    await visitor.button("Stop").click();
    await visitor.until(visitor.summaries);
    assert.equal(await visitor.prompt.inputValue(), "Also calculate 6 * 7");
    await reload();
    assert.equal(await visitor.prompt.inputValue(), "Also calculate 6 * 7");
    await visitor.prompt.press("Enter");
    await visitor.until(visitor.summaries.nth(1));
    await reload();
    assert.equal(await visitor.prompt.inputValue(), "");
  });

  test("begins a run anew whose journal was not written yet", async () => {
    await visitor.say("What is 6 * 7?");
    await reload();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.answers.last().innerText(), /42/);
    assert.equal(await visitor.transcript.locator(".asked").count(), 1);
  });

  test("does not go on after a new chat", async () => {
    await visitor.say("Look up limits in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.button("New chat").click();
    await reload();
    await visitor.page.clock.runFor(5000);
    assert.equal(await visitor.transcript.innerText(), "");
    assert.deepEqual(await journaled(), []);
  });

  test("waits for the key of a vendor, which went with the page", async () => {
    await visitor.page.route("https://api.anthropic.com/**", (route) => route.abort());
    const connect = async () => {
      await visitor.page.getByText("Anthropic", { exact: true }).click();
      await visitor.page.getByRole("textbox", { name: "Model" }).fill("claude-sonnet-4-6");
      await visitor.page.getByLabel("Key", { exact: true }).fill("sk-ant-secret");
      await visitor.page.getByLabel(/my own key/).check();
      await visitor.button("Use this").click();
    };
    await visitor.page.locator("#connection").click();
    await connect();
    await visitor.say("Hello");
    await visitor.until(visitor.transcript.getByText(/Trying again/));
    // A run whose journal has no entry yet would begin anew.
    while ((await journaled()).length === 0) await visitor.page.clock.runFor(10);
    await reload();
    assert.match(await visitor.transcript.innerText(), /Hello[^]*the page no longer has its key/);
    const kept = await visitor.page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
    assert.doesNotMatch(kept, /ant-secret/);
    await visitor.button("Open the connection").click();
    await connect();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.transcript.innerText(), /The page was reloaded here[^]*failed/);
    visitor.complaints = visitor.complaints.filter((text) => !/ERR_FAILED/.test(text));
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
