// Where a conversation takes a turn: another model, another agent, a shorter history.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("a conversation that takes a turn", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));
  beforeEach(() => visitor.openControls());

  const dividers = () => visitor.transcript.locator(".divider");
  const lines = async () => (await dividers().locator("> p").allInnerTexts()).map((line) => line.trim());
  const model = () => visitor.page.getByRole("combobox", { name: "Model" });
  const compact = () => visitor.button("Compact now");
  const isPressed = async () => (await compact().getAttribute("aria-pressed")) === "true";

  test("another model goes on with a run, at another pace of costs and in another wire format", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await model().selectOption("practice-mini, OpenAI format");
    await visitor.until(visitor.summaries);
    assert.deepEqual(await lines(), ["The model is now practice-mini"]);
    assert.match(await visitor.summaries.innerText(), /completed/);
    await visitor.button("Connection: Practice provider, OpenAI format").waitFor();
    await visitor.ask("What is 6 * 7?");
    assert.equal(await dividers().count(), 1, "a run that begins with it says nothing");
  });

  test("a model that thinks takes a turn over that another one began", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await model().selectOption("practice-mini");
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("the model can be chosen by keyboard, before anything is asked", async () => {
    await model().focus();
    await visitor.page.keyboard.press("ArrowDown");
    assert.equal(await model().inputValue(), "practice-mini");
    await visitor.ask("What is 6 * 7?");
    const first = visitor.page.locator('.rows > li[data-type="run-start"] .gist');
    assert.equal(await first.textContent(), "practice-mini");
  });

  test("the conversation is handed over, and the other agent's tools answer", async () => {
    await visitor.page.getByRole("button", { name: /Hand off to another agent/ }).click();
    await visitor.until(visitor.summaries);
    assert.deepEqual(await lines(), ["Handed off to archivist"]);
    const kinds = await visitor.transcript
      .locator("article, .divider")
      .evaluateAll((parts) => parts.map((part) => part.getAttribute("aria-label") ?? "divider"));
    assert.deepEqual(kinds, ["Tool call archivist", "divider", "Tool call slow_lookup"]);
    assert.match(await visitor.answers.last().innerText(), /Lookup for keys:[\s\S]*tools\.md/);
    assert.match(await visitor.summaries.innerText(), /completed/);
    // The archivist has the chat from here on, with all tools.
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.answers.last().innerText(), /42/);
    await visitor.page.reload();
    await visitor.ask("Ask the researcher to calculate 7 * 8");
    assert.match(await visitor.answers.last().innerText(), /56/);
  });

  test("the history is compacted before the next message, and the summary can be read", async () => {
    await visitor.ask("Look up keys in the archive");
    await visitor.ask("What is 6 * 7?");
    await compact().press("Enter");
    assert.equal(await isPressed(), true);
    await visitor.ask("What is 7 * 8?");
    assert.equal(await isPressed(), false);
    const [line] = await lines();
    assert.match(line, /^History compacted: about [\d,]+ → [\d,]+ tokens$/);
    const details = dividers().locator("details");
    await details.locator("summary").press("Enter");
    assert.match(await details.locator("p").innerText(), /Asked: Look up keys in the archive/);
    assert.match(await visitor.answers.last().innerText(), /56/);
    assert.equal(await visitor.page.getByRole("alert").count(), 0);
  });

  test("the history is compacted within a run", async () => {
    await visitor.ask("Look up keys in the archive");
    await visitor.say("Look up limits in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await compact().click();
    await visitor.until(visitor.summaries.nth(1));
    assert.match((await lines()).join(), /History compacted/);
    assert.equal(await isPressed(), false);
  });

  test("a history of which all has to be kept stays, and the page says so", async () => {
    await compact().click();
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.transcript.innerText(), /Nothing was compacted/);
    assert.equal(await isPressed(), false);
  });

  test("what is asked for before a message can be taken back", async () => {
    await compact().click();
    await compact().click();
    assert.equal(await isPressed(), false);
    await visitor.ask("What is 6 * 7?");
    assert.doesNotMatch(await visitor.transcript.innerText(), /compacted/);
  });

  for (const width of [360, 1100])
    test(`controls and dividers fit a window of ${width} pixels`, async () => {
      await visitor.page.setViewportSize({ width, height: 720 });
      await visitor.ask("Hand over to the archivist, then look up retries in the archive");
      await compact().click();
      await visitor.ask("What is 6 * 7?");
      const wide = await visitor.page.evaluate(() =>
        [...document.querySelectorAll(".transcript *, .dock *")]
          .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth)
          .map((node) => node.className || node.tagName),
      );
      assert.deepEqual(wide, []);
      const boxes = await visitor.page.locator(".dock :is(button, select):visible").evaluateAll((all) =>
        all.map((one) => {
          const { left, right, top, bottom } = one.getBoundingClientRect();
          return { name: one.textContent, left, right, top, bottom };
        }),
      );
      for (const [at, a] of boxes.entries())
        for (const b of boxes.slice(at + 1)) {
          const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
          assert.ok(apart, `${a.name} does not lie on ${b.name}`);
        }
    });
});

describe("the settings", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));
  beforeEach(() => visitor.openControls());

  const open = () => visitor.page.locator("#connection").click();
  const field = (name) => visitor.page.getByRole("textbox", { name, exact: true });
  const kind = (name) => visitor.page.locator(".kinds label").getByText(name, { exact: true }).click();

  for (const leave of ["Cancel", "Close", "Escape"])
    test(`what was typed and not taken over is gone after ${leave}`, async () => {
      await open();
      await kind("Anthropic");
      await field("Key").fill("sk-typed");
      await field("Iterations").fill("3");
      if (leave === "Escape") await visitor.page.keyboard.press("Escape");
      else await visitor.button(leave).click();
      await open();
      assert.equal(await visitor.page.getByRole("radio", { name: "Practice provider" }).isChecked(), true);
      assert.equal(await field("Iterations").inputValue(), "12");
      await kind("Anthropic");
      assert.equal(await field("Key").inputValue(), "");
    });

  test("they show what holds, also what was chosen above the field", async () => {
    await visitor.page.getByRole("combobox", { name: "Model" }).selectOption("practice-mini, OpenAI format");
    await open();
    const wire = visitor.page.getByRole("combobox", { name: "Wire format" });
    assert.equal(await wire.inputValue(), "openai_chat");
    await visitor.button("Use this").click();
    const chosen = visitor.page.getByRole("combobox", { name: "Model" });
    assert.equal(await chosen.inputValue(), "practice-mini, OpenAI format");
  });

  test("a key that was used stays while the practice provider answers for a while", async () => {
    await open();
    await kind("Anthropic");
    await field("Model").fill("claude-sonnet-4-6");
    await field("Key").fill("sk-used");
    await visitor.page.getByRole("checkbox", { name: /my own key/ }).check();
    await visitor.button("Use this").click();
    await open();
    assert.equal(await field("Key").inputValue(), "sk-used");
    await kind("Practice provider");
    await visitor.button("Use this").click();
    await open();
    await kind("Anthropic");
    assert.equal(await field("Key").inputValue(), "sk-used");
  });
});
