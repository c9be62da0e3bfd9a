// How a person keeps a run in hand: approvals, permission modes, budgets.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("the playground under control", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));
  beforeEach(() => visitor.openControls());

  const approval = (nth = 0) => visitor.page.getByRole("group", { name: "Approval of add_note" }).nth(nth);
  const decide = (name, nth) => approval(nth).getByRole("button", { name, exact: true }).click();
  const mode = () => visitor.page.getByRole("combobox", { name: "Permissions" });
  const notes = () => visitor.page.evaluate(() => JSON.parse(localStorage.getItem("looplet.notes") ?? "[]"));
  const texts = async () => (await notes()).map(({ text }) => text);
  const focused = () =>
    visitor.page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
  const meter = (name) => visitor.page.getByRole("meter", { name, exact: true });
  const budget = async (name, value) => {
    await visitor.page.locator("#connection").click();
    await visitor.page.getByRole("textbox", { name, exact: true }).fill(value);
    await visitor.button("Use this").click();
  };
  /** Asks for something that needs an approval. */
  const askToSave = async (prompt = "Save the note: water the plants") => {
    await visitor.say(prompt);
    await visitor.until(approval());
  };

  test("a call that changes something waits for the person, for as long as they like", async () => {
    await askToSave();
    const card = visitor.card("add_note");
    assert.match(await card.innerText(), /needs your approval[\s\S]*water the plants[\s\S]*May this run\?/);
    assert.match(await visitor.page.getByRole("status").innerText(), /1 call waits for you/);
    assert.deepEqual(await notes(), []);
    await visitor.page.clock.fastForward(600_000);
    await decide("Allow");
    await visitor.until(visitor.summaries);
    assert.deepEqual(await texts(), ["water the plants"]);
    assert.match(await card.innerText(), /done[\s\S]*Result/);
    assert.equal(await approval().count(), 0);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("the controls say what the next run may cost at most, and what nothing limits", async () => {
    const bound = () => visitor.page.locator(".bound");
    await visitor.until(bound().getByText("costs at most"));
    assert.match(
      await bound().innerText(),
      /^The next run costs at most \$\d\.\d\d, in [\d,]+ requests at most\.$/,
    );
    const before = await bound().innerText();
    await budget("US dollars", "0.01");
    await budget("Tool calls", "1");
    await visitor.page.clock.runFor(400);
    await visitor.until(bound().filter({ hasNotText: before }));
    const [most] = /(?<=\$)[\d.]+/.exec(await bound().innerText());
    await visitor.ask("What is 6 * 7, and what time is it in Tokyo?");
    const [, spent] = /\$([\d.]+)/.exec(await visitor.summaries.innerText());
    assert.ok(Number(spent) <= Number(most));
    await budget("Tool calls", "");
    await budget("US dollars", "");
    await budget("Tokens", "");
    await visitor.until(
      bound().getByText("Nothing limits what the next run may cost: no limits.maxToolCalls."),
    );
  });

  test("what only looks runs without being asked about", async () => {
    await visitor.ask("What is 6 * 7, and list my notes");
    assert.match(await visitor.card("list_notes").innerText(), /done/);
  });

  test("an edited input is what the tool gets, and the card shows what was changed", async () => {
    await askToSave();
    await decide("Edit");
    const field = visitor.page.getByRole("textbox", { name: "Input for add_note, as JSON" });
    assert.deepEqual(JSON.parse(await field.inputValue()), { text: "water the plants" });
    await field.fill('{ "text": "feed the cat" }');
    await field.press("Control+Enter");
    await visitor.until(visitor.summaries);
    assert.deepEqual(await texts(), ["feed the cat"]);
    const card = visitor.card("add_note");
    assert.match(await card.innerText(), /as you edited them/);
    assert.deepEqual(await card.locator("del").allInnerTexts(), ['  "text": "water the plants"\n']);
    assert.deepEqual(await card.locator("ins").allInnerTexts(), ['  "text": "feed the cat"\n']);
  });

  test("an edit that the tool cannot take says so and runs nothing", async () => {
    await askToSave();
    await decide("Edit");
    const field = visitor.page.getByRole("textbox", { name: "Input for add_note, as JSON" });
    for (const [text, problem] of [
      ['{ "text": "feed }', /This is not valid JSON: .*line 1/],
      ["[1]", /a JSON object/],
      ["{}", /"text" is missing/],
      ['{ "text": 5 }', /"text" takes a string, not 5/],
      ['{ "text": "a", "tag": "b" }', /no field "tag", only "text"/],
    ]) {
      await field.fill(text);
      await decide("Run with this");
      assert.match(await approval().innerText(), problem);
      assert.equal(await field.getAttribute("aria-invalid"), "true");
      assert.equal(await focused(), await field.evaluate((node) => node.textContent || node.id));
    }
    await field.fill('{ "text": "feed the cat" }');
    assert.equal(await field.getAttribute("aria-invalid"), "false");
    await field.press("Escape");
    assert.equal(await focused(), "Allow", "Escape leaves the editor, not the run");
    assert.deepEqual(await notes(), []);
    await decide("Allow");
    await visitor.until(visitor.summaries);
    assert.deepEqual(await texts(), ["water the plants"]);
  });

  test("a denied call tells the model why, and the run goes on", async () => {
    await askToSave();
    await decide("Deny");
    const reason = visitor.page.getByRole("textbox", { name: "Why add_note is denied" });
    await reason.fill("The plants are made of plastic.");
    await reason.press("Enter");
    await visitor.until(visitor.summaries);
    assert.match(await visitor.card("add_note").innerText(), /denied[\s\S]*made of plastic/);
    assert.match(await visitor.answers.last().innerText(), /did not run add_note.*made of plastic/);
    assert.match(await visitor.summaries.innerText(), /completed/);
    assert.deepEqual(await notes(), []);
  });

  test("two calls wait side by side, and each gets its own answer", async () => {
    await askToSave("Save the note: water the plants, and save the note: call Ada");
    await visitor.until(approval(1));
    assert.match(await visitor.page.getByRole("status").innerText(), /2 calls wait for you/);
    await decide("Deny", 1);
    await approval(1).getByRole("textbox").press("Enter");
    await visitor.until(visitor.page.getByRole("status").filter({ hasText: "1 call waits for you" }));
    await decide("Allow");
    await visitor.until(visitor.summaries);
    assert.deepEqual(await texts(), ["water the plants"]);
    assert.match(await visitor.card("add_note").nth(1).innerText(), /The user said no/);
  });

  test("always allowing a tool answers what waits and whatever comes, until a new chat", async () => {
    await askToSave("Save the note: water the plants, and save the note: call Ada");
    await visitor.until(approval(1));
    await approval().getByRole("checkbox", { name: "Always allow add_note" }).check();
    await decide("Allow");
    await visitor.until(visitor.summaries);
    await visitor.ask("Save the note: buy milk");
    assert.deepEqual(await texts(), ["water the plants", "call Ada", "buy milk"]);
    await visitor.button("New chat").click();
    await askToSave();
  });

  test("the keyboard alone reaches an approval and comes back to the field", async () => {
    await askToSave("Save the note: water the plants, and save the note: call Ada");
    await visitor.until(approval(1));
    assert.equal(await focused(), "prompt", "the field keeps the keyboard");
    await visitor.button("Review").press("Enter");
    assert.equal(await focused(), "Allow");
    await visitor.page.keyboard.press("Enter");
    await visitor.until(visitor.page.getByRole("status").filter({ hasText: "1 call waits for you" }));
    assert.equal(await focused(), "Allow", "on to the next one");
    await visitor.page.keyboard.press("Tab");
    await visitor.page.keyboard.press("Tab");
    await visitor.page.keyboard.press("Enter");
    await visitor.page.keyboard.type("No");
    await visitor.page.keyboard.press("Enter");
    await visitor.until(visitor.summaries);
    assert.equal(await focused(), "prompt");
    assert.deepEqual(await texts(), ["water the plants"]);
  });

  test("stopping a run closes its open approvals", async () => {
    await askToSave();
    await visitor.button("Stop").click();
    await visitor.summaries.waitFor();
    assert.equal(await approval().count(), 0);
    assert.match(await visitor.card("add_note").innerText(), /not finished/);
    assert.equal(await visitor.button("Review").isVisible(), false);
  });

  test("plan mode holds changes back, says so, and carries them out on a click", async () => {
    await mode().selectOption({ label: "Plan only" });
    assert.match(await visitor.prompt.getAttribute("placeholder"), /nothing is changed/);
    await visitor.ask("Save the note: water the plants");
    assert.match(await visitor.card("add_note").innerText(), /denied[\s\S]*plan mode/);
    assert.match(await visitor.transcript.innerText(), /Plan mode: one call was held back/);
    assert.deepEqual(await notes(), []);

    await visitor.button("Carry it out").click();
    assert.equal(await mode().inputValue(), "default");
    await visitor.until(approval());
    await decide("Allow");
    await visitor.until(visitor.summaries.nth(1));
    assert.deepEqual(await texts(), ["water the plants"]);
  });

  test("the mode can be switched while a run goes on", async () => {
    await visitor.say("Look up keys in the archive and then save the result as a note");
    await visitor.until(visitor.page.locator("progress"));
    await mode().selectOption({ label: "Run everything" });
    await visitor.until(visitor.summaries);
    assert.equal((await notes()).length, 1);
    await mode().selectOption({ label: "Ask first" });
    await askToSave();
  });

  test("accepted edits save notes unasked, but removing one still asks", async () => {
    await mode().selectOption({ label: "Accept edits" });
    await visitor.ask("Save the note: water the plants");
    assert.deepEqual(await texts(), ["water the plants"]);
    await visitor.say("Remove note 1");
    const removal = visitor.page.getByRole("group", { name: "Approval of remove_note" });
    await visitor.until(removal);
    await removal.getByRole("button", { name: "Allow", exact: true }).click();
    await visitor.until(visitor.summaries.nth(1));
    assert.deepEqual(await notes(), []);
  });

  test("budgets show what a run has used of them, while it goes on and when it has ended", async () => {
    await visitor.say("What is 6 * 7, and look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    assert.equal(await meter("Iterations").getAttribute("aria-valuetext"), "1 / 12");
    // The bars are drawn with the next frame.
    await visitor.until(meter("Tool calls").and(visitor.page.locator('[aria-valuetext="2 / 24"]')));
    assert.match(await meter("Tokens").getAttribute("aria-valuetext"), /^[1-9]\d* \/ 60k$/);
    await visitor.page.clock.runFor(2_000);
    assert.match(await meter("Time").getAttribute("aria-valuetext"), /^0:0[2-5] \/ 15:00$/);
    await visitor.until(visitor.summaries);
    assert.equal(await meter("Iterations").getAttribute("aria-valuetext"), "2 / 12");
    assert.equal(await meter("Tool rounds").getAttribute("aria-valuenow"), "1");
    assert.match(await meter("Cost").getAttribute("aria-valuetext"), /^\$0\.00\d+ \/ \$0\.25$/);
    const spent = Number(await meter("Time").getAttribute("aria-valuenow"));
    await visitor.page.clock.runFor(5_000);
    assert.equal(Number(await meter("Time").getAttribute("aria-valuenow")), spent, "time stands still");
  });

  for (const [field, value, word, name, more] of [
    ["Iterations", "1", /used up: iterations/, "Iterations", "2 iterations"],
    ["Tool calls", "1", /used up: tool calls/, "Tool calls", "2 tool calls"],
    ["Tokens", "500", /used up: tokens/, "Tokens", "1,000 tokens"],
    ["US dollars", "0.001", /used up: cost/, "Cost", "$0.0020"],
    ["Seconds", "1", /used up: time/, "Time", "2 seconds"],
  ])
    test(`a run that used up its ${name.toLowerCase()} says so and goes on with more`, async () => {
      await budget(field, value);
      await visitor.ask("What is 6 * 7, and look up keys in the archive");
      assert.match(await visitor.transcript.innerText(), word);
      assert.match(await visitor.summaries.innerText(), /stopped/);
      assert.match(await meter(name).getAttribute("aria-valuetext"), /used up$/);
      await visitor.button(`Continue with ${more}`).click();
      assert.equal(Number(await meter(name).getAttribute("aria-valuemax")), 2 * Number(value));
      await visitor.until(visitor.summaries.nth(1));
    });

  test("a run that was stopped finishes when it goes on", async () => {
    await budget("Iterations", "1");
    await visitor.ask("Calculate 6 * 7 and then list my notes");
    assert.equal(await visitor.card("list_notes").count(), 0);
    await visitor.button("Continue with 2 iterations").click();
    await visitor.until(visitor.summaries.nth(1));
    assert.equal(await visitor.card("calculator").count(), 1, "what is done is not done again");
    assert.match(await visitor.card("list_notes").innerText(), /done/);
    assert.match(await visitor.summaries.nth(1).innerText(), /completed/);
    await visitor.page.locator("#connection").click();
    assert.equal(
      await visitor.page.getByRole("textbox", { name: "Iterations", exact: true }).inputValue(),
      "2",
      "the settings know the higher limit",
    );
  });

  test("a wrong budget is refused in words, at the field, and an empty one is none", async () => {
    await visitor.page.locator("#connection").click();
    const dialog = visitor.page.getByRole("dialog");
    const field = (name) => dialog.getByRole("textbox", { name, exact: true });
    await field("Tool calls").fill("2.5");
    await field("US dollars").fill("-1");
    await field("Seconds").fill("soon");
    await visitor.button("Use this").click();
    const alert = await dialog.getByRole("alert").innerText();
    assert.match(alert, /Tool calls \(maxToolCalls\): enter a whole number/);
    assert.match(alert, /US dollars \(maxUsd\): enter a number above 0/);
    assert.match(alert, /Seconds \(timeouts\.totalMs\)/);
    assert.equal(await field("Tool calls").getAttribute("aria-invalid"), "true");
    assert.equal(await field("Tokens").getAttribute("aria-invalid"), "false");
    await field("Tool calls").fill("");
    await field("US dollars").fill("1.5");
    await field("Seconds").fill("");
    await visitor.button("Use this").click();
    assert.equal(await dialog.isVisible(), false);
    assert.equal(await meter("Tool calls").count(), 0);
    await visitor.ask("What is 6 * 7?");
    assert.match(await meter("Cost").getAttribute("aria-valuetext"), /^\$0\.00\d+ \/ \$1\.50$/);
  });

  test("the controls are one line until somebody opens it; the most used budget shows there", async () => {
    const toggle = visitor.page.getByRole("button", { name: /^Controls:/ });
    await toggle.click();
    await budget("Iterations", "4");
    await visitor.ask("What is 6 * 7?");
    assert.match(await toggle.innerText(), /Ask first · practice-1\s+Budget\s+50 %/);
    assert.equal(await toggle.getAttribute("aria-expanded"), "false");
    assert.equal(await mode().isVisible(), false);
    assert.equal(await meter("Iterations").isVisible(), false);
    await toggle.click();
    assert.equal(await meter("Iterations").getAttribute("aria-valuetext"), "2 / 4");
    await mode().selectOption({ label: "Plan only" });
    assert.match(await toggle.innerText(), /Plan only/);
  });

  for (const [width, height] of [
    [1280, 860],
    [820, 1180],
    [390, 844],
  ])
    test(`at rest little is above the field, in a window of ${width} pixels`, async () => {
      await visitor.page.setViewportSize({ width, height });
      await visitor.page.reload();
      const tall = (part) => visitor.page.locator(part).evaluate((one) => one.getBoundingClientRect().height);
      assert.ok((await tall(".meter")) < 40, "one line");
      assert.ok((await tall("#dock")) < 160, `${await tall("#dock")} pixels`);
      await visitor.ask("What is 6 * 7?");
      assert.ok((await tall("#dock")) < 160, `${await tall("#dock")} pixels after a run`);
    });

  test("a run that comes near the end of a budget opens the controls, and the next one folds them", async () => {
    const toggle = visitor.page.getByRole("button", { name: /^Controls:/ });
    await toggle.click();
    await budget("Iterations", "1");
    await visitor.ask("What is 6 * 7?");
    assert.equal(await meter("Iterations").isVisible(), true);
    await budget("Iterations", "10");
    assert.equal(await meter("Iterations").isVisible(), true, "what stopped the run stays in sight");
    await visitor.ask("What is 6 * 7?");
    assert.equal(await meter("Iterations").isVisible(), false);
  });

  test("a counter says what it counts: the last line a run, the line above the field the chat", async () => {
    const chat = visitor.page.getByRole("group", { name: "All runs of this chat" });
    const figures = async (nth) => {
      const text = await visitor.summaries.nth(nth).innerText();
      const [, run, inside, outside, usd] =
        /^(Run \d)\s+completed[\s\S]*?([\d,]+) tokens in\s+([\d,]+) out[\s\S]*?\$([\d.]+)/.exec(text);
      return { run, tokens: number(inside) + number(outside), usd: Number(usd) };
    };
    const number = (text) => Number(text.replaceAll(",", ""));
    await visitor.ask("What is 6 * 7?");
    await visitor.ask("What is 7 * 8?");
    const [first, second] = [await figures(0), await figures(1)];
    assert.deepEqual([first.run, second.run], ["Run 1", "Run 2"]);
    const [, total, usd] = /^Chat\s+([\d,]+) tokens\s+\$([\d.]+)$/.exec(await chat.innerText());
    assert.equal(number(total), first.tokens + second.tokens);
    assert.ok(Math.abs(Number(usd) - first.usd - second.usd) < 0.0002);
    // One unit of money, and the bar's amount is that of the run.
    const bar = await meter("Cost").getAttribute("aria-valuetext");
    assert.equal(Number(/^\$([\d.]+) \/ \$0\.25$/.exec(bar)[1]), second.usd);
    assert.doesNotMatch(await visitor.page.locator("body").innerText(), /¢|iteration \d/);
    assert.match(await visitor.page.locator("#controls").innerText(), /Used by this run/);
  });

  test("nothing above the field moves when a run begins, waits and ends", async () => {
    for (const viewport of [
      { width: 1100, height: 800 },
      { width: 360, height: 720 },
    ]) {
      await visitor.page.setViewportSize(viewport);
      await visitor.button("New chat").click();
      const top = () => visitor.page.locator(".meter").evaluate((line) => line.getBoundingClientRect().top);
      const atRest = await top();
      await askToSave();
      assert.equal(await top(), atRest, `while it waits, ${viewport.width} wide`);
      await decide("Allow");
      await visitor.until(visitor.summaries);
      assert.equal(await top(), atRest, `when it has ended, ${viewport.width} wide`);
      const overflow = await visitor.page.evaluate(
        () =>
          [...document.querySelectorAll(".dock *")].filter(
            (node) => node.getBoundingClientRect().right > innerWidth,
          ).length,
      );
      assert.equal(overflow, 0);
    }
  });
});
