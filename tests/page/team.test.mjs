// Agents that the page's agent asks: they work inside the cards of the calls that they answer.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

const both =
  "Ask the researcher to look up keys in the archive, and ask the secretary to save the note: call Ada";

describe("agents that are asked by the agent", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const agent = (name) => visitor.page.getByRole("group", { name: `Agent ${name}` });
  const inside = (name, tool) => agent(name).getByRole("article", { name: `Tool call ${tool}` });
  const allow = () => visitor.button("Allow").click();

  test("each works in the card of the call that it answers, at the same time", async () => {
    await visitor.say(both);
    await visitor.until(inside("researcher", "slow_lookup").locator("progress"));
    await visitor.until(inside("secretary", "add_note").getByRole("group", { name: "Approval of add_note" }));
    assert.match(
      await visitor.card("secretary").innerText(),
      /running[\s\S]*"prompt":"Save the note: call Ada"/,
    );
    await allow();
    await visitor.until(visitor.summaries);
    for (const name of ["secretary", "researcher"]) {
      assert.equal(await agent(name).isVisible(), false, "it folds with its answer");
      await visitor.unfold(name);
    }
    assert.match(await inside("secretary", "add_note").innerText(), /done[\s\S]*call Ada/);
    assert.match(await inside("researcher", "slow_lookup").innerText(), /done/);
    assert.match(await agent("secretary").innerText(), /Saved: “call Ada”/);
    const result = visitor.card("secretary").locator(".output").last();
    assert.match(await result.innerText(), /Saved: “call Ada”/, "only the last text comes back");
    assert.equal(await agent("secretary").getByText("1 call waits").count(), 0);
    assert.match(await visitor.summaries.innerText(), /completed\s+2 iterations\s+4 tool calls/);
  });

  test("after a reload, what an agent asks can be answered, and its work continues", async () => {
    await visitor.say(both);
    const approval = inside("secretary", "add_note").getByRole("group", { name: "Approval of add_note" });
    await visitor.until(inside("researcher", "slow_lookup").locator("progress"));
    await visitor.until(approval);
    for (let reloads = 0; reloads < 2; reloads += 1) {
      await visitor.page.reload();
      await visitor.page.clock.runFor(100);
      await visitor.until(approval);
      assert.match(await visitor.page.getByRole("status").innerText(), /1 call waits for you/);
      assert.equal(await visitor.card("secretary").count(), 1);
    }
    await allow();
    await visitor.until(visitor.summaries);
    for (const name of ["secretary", "researcher"]) {
      assert.match(await visitor.card(name).first().innerText(), /done/);
      await visitor.unfold(name);
    }
    assert.match(await inside("secretary", "add_note").innerText(), /done[\s\S]*call Ada/);
    assert.match(await inside("researcher", "slow_lookup").innerText(), /done/);
    assert.match(await visitor.summaries.innerText(), /completed\s+2 iterations\s+4 tool calls/);
    const notes = await visitor.page.evaluate(() => localStorage.getItem("looplet.notes"));
    assert.equal(JSON.parse(notes).length, 1);
  });

  test("after a reload, the card of an agent has what it had done before", async () => {
    await visitor.say(both);
    await visitor.until(inside("secretary", "add_note").getByRole("group", { name: "Approval of add_note" }));
    await visitor.until(visitor.card("researcher").getByText("done").first());
    const shown = async () => {
      await visitor.unfold("researcher");
      const text = await visitor.card("researcher").innerText();
      // The answer that comes next is asked for again.
      const [done] = /Let me use slow_lookup\.\s+done · [\d.]+ s\s+slow_lookup\s+keys/.exec(text) ?? [text];
      return [done, await agent("secretary").innerText()];
    };
    const before = await shown();
    for (let reloads = 0; reloads < 2; reloads += 1) {
      await visitor.page.reload();
      await visitor.page.clock.runFor(100);
      await visitor.until(visitor.button("Allow"));
      assert.deepEqual(await shown(), before);
    }
    await allow();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /completed\s+2 iterations\s+4 tool calls/);
  });

  test("what an agent asks for leads from the line above the field to its card", async () => {
    await visitor.say(both);
    await visitor.until(visitor.button("Review"));
    await visitor.button("Review").press("Enter");
    assert.equal(
      await inside("secretary", "add_note").evaluate((card) => card.contains(document.activeElement)),
      true,
    );
    await visitor.page.keyboard.press("Enter");
    await visitor.until(visitor.summaries);
    await visitor.unfold("secretary");
    assert.match(await inside("secretary", "add_note").innerText(), /done/);
  });

  test("their tokens and calls count for the run, their iterations for themselves", async () => {
    await visitor.openControls();
    const meter = (name) => visitor.page.getByRole("meter", { name, exact: true });
    await visitor.ask("What is 6 * 7?");
    const alone = Number(await meter("Tokens").getAttribute("aria-valuenow"));
    await visitor.ask("Ask the researcher to calculate 6 * 7");
    assert.ok(Number(await meter("Tokens").getAttribute("aria-valuenow")) > 1.5 * alone);
    assert.equal(await meter("Iterations").getAttribute("aria-valuenow"), "2");
    assert.equal(await meter("Tool calls").getAttribute("aria-valuenow"), "2");
    assert.equal(await meter("Tool rounds").getAttribute("aria-valuenow"), "1");
    assert.match(await visitor.summaries.last().innerText(), /2 iterations\s+2 tool calls/);
    const [, , counted] = /(\d+) iterations[\s\S]*?([\d,]+) tokens in/.exec(
      await visitor.summaries.last().innerText(),
    );
    assert.ok(Number(counted.replace(",", "")) > alone, "the last line counts them too");
  });

  test("their calls use up the budget of the run's calls, as the bar says", async () => {
    await visitor.page.locator("#connection").click();
    await visitor.page.getByRole("textbox", { name: "Tool calls", exact: true }).fill("1");
    await visitor.button("Use this").click();
    await visitor.ask("Ask the researcher to calculate 6 * 7");
    assert.match(await visitor.transcript.innerText(), /used up: tool calls/);
    const bar = visitor.page.getByRole("meter", { name: "Tool calls", exact: true });
    assert.match(await bar.getAttribute("aria-valuetext"), /used up$/);
  });

  test("a stop ends them too, with what they have open", async () => {
    await visitor.say(both);
    await visitor.until(visitor.button("Review"));
    await visitor.until(inside("researcher", "slow_lookup").locator("progress"));
    await visitor.button("Stop").click();
    await visitor.summaries.waitFor();
    assert.match(await inside("researcher", "slow_lookup").innerText(), /not finished/);
    assert.match(await inside("secretary", "add_note").innerText(), /not finished/);
    assert.match(await visitor.card("researcher").innerText(), /^not finished/);
    assert.equal(await visitor.page.locator(".approval").count(), 0);
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.answers.last().innerText(), /42/);
  });

  test("plan mode holds back what they would change", async () => {
    await visitor.openControls();
    await visitor.page.getByRole("combobox", { name: "Permissions" }).selectOption("plan");
    await visitor.ask("Ask the secretary to save the note: call Ada");
    assert.match(await visitor.transcript.innerText(), /plan mode/);
    assert.equal(await visitor.page.evaluate(() => localStorage.getItem("looplet.notes")), null);
  });

  test("the devtools have lanes for them and their tools", async () => {
    await visitor.button("Devtools").click();
    await visitor.say(both);
    await visitor.until(visitor.button("Review"));
    await allow();
    await visitor.until(visitor.summaries);
    await visitor.page.clock.runFor(100);
    const lanes = await visitor.page.locator("looplet-devtools .lane").allInnerTexts();
    assert.equal(lanes[0], "agent");
    assert.equal(lanes[lanes.indexOf("secretary") + 1], "add_note");
  });

  test("cards in cards fit a window of 360 pixels", async () => {
    await visitor.page.setViewportSize({ width: 360, height: 720 });
    await visitor.say(both);
    await visitor.until(visitor.button("Review"));
    const wide = await visitor.page.evaluate(() =>
      [...document.querySelectorAll(".transcript *")]
        .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth)
        .map((node) => node.className),
    );
    assert.deepEqual(wide, []);
  });
});
