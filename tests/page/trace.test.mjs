// The trace of a run as a waterfall: a table that a person can look at, walk through by keyboard and copy.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("the trace on the page", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const panel = () => visitor.page.getByRole("complementary", { name: "Trace" });
  const rows = () => panel().locator("tbody tr:not(.more)");
  const names = () => panel().locator("tbody .name").allInnerTexts();
  const row = (name) => rows().filter({ hasText: name });
  const took = (name) => row(name).locator(".took").innerText();
  const focused = () => visitor.page.evaluate(() => document.activeElement.innerText);
  /** Where the bars are, as shares of their lanes. */
  const bars = () =>
    rows().evaluateAll((all) =>
      all.map((item) => {
        const lane = item.querySelector(".lane").getBoundingClientRect();
        const bar = item.querySelector(".stretch").getBoundingClientRect();
        return { from: (bar.left - lane.left) / lane.width, to: (bar.right - lane.left) / lane.width };
      }),
    );

  test("iterations, model calls and tools are rows of a table, with bars and durations", async () => {
    await visitor.button("Trace").click();
    assert.match(await panel().innerText(), /Ask something/);
    await visitor.ask("What is 6 * 7, and look up keys in the archive");

    const table = panel().getByRole("table", { name: /Steps of the run/ });
    assert.deepEqual(await table.getByRole("columnheader").allInnerTexts(), ["Step", await axis(), "Took"]);
    assert.deepEqual(await names(), [
      "Run",
      "Iteration 1",
      "practice-1",
      "calculator",
      "slow_lookup",
      "Iteration 2",
      "practice-1",
    ]);
    // The tool takes four seconds; a busy machine takes longer.
    assert.match(await took("slow_lookup"), /^\d+\.\d s$/);
    assert.ok(parseFloat(await took("slow_lookup")) >= 4);
    const [run, first, chat, , lookup, second, last] = await bars();
    assert.ok(run.from < 0.02 && run.to > 0.98);
    assert.ok(
      chat.from >= first.from && chat.to <= lookup.from + 0.02,
      "the tool runs when the model has asked",
    );
    assert.ok(lookup.to - lookup.from > 0.4, "the slow tool is the longest");
    assert.ok(second.from >= lookup.to - 0.02 && last.to > 0.98);
    for (const { from, to } of await bars()) assert.ok(from > -0.01 && to < 1.03);

    async function axis() {
      return panel().locator("thead th").nth(1).innerText();
    }
  });

  test("a wait for approval is a bar of its own, and the call spans it", async () => {
    await visitor.button("Trace").click();
    await visitor.say("Save the note: water the plants");
    await visitor.until(row("Waits for approval"));
    assert.match(await took("add_note"), /waits/);
    assert.equal(await row("Waits for approval").getAttribute("data-state"), "open");
    await visitor.page.clock.runFor(3_000);
    await visitor.button("Allow").click();
    await visitor.until(visitor.summaries);
    assert.match(await took("Waits for approval"), /^[3-5]\.\d s$/);
    assert.match(await took("add_note"), /^[3-5]\.\d s$/);
    const all = await bars();
    const at = (await names()).indexOf("add_note");
    const [call, wait] = [all[at], all[at + 1]];
    assert.ok(call.from <= wait.from + 0.01 && call.to >= wait.to - 0.01, "the bar spans the wait");
    const held = await row("add_note")
      .locator(".stretch")
      .evaluate((bar) => Number(bar.style.getPropertyValue("--held")));
    assert.ok(held > 0.8 && held <= 1, `${held} of it is pale`);
    await row("add_note").getByRole("button").click();
    assert.match(await panel().locator(".more:visible").innerText(), /took\s+[3-5]\.\d s\s+ran\s+\d+ ms/);
  });

  test("all runs of the browser are plotted, those before a reload too", async () => {
    await visitor.ask("What is 6 * 7?");
    await visitor.page.reload();
    await visitor.ask("What is 6 * 8?");
    await visitor.button("Trace").click();
    await panel().getByText("All runs of this browser").click();
    const plots = panel().locator(".all-runs");
    await visitor.until(plots.getByText("0 % reached their most iterations"));
    const cells = plots.locator("tbody :is(th, td:last-child)");
    assert.deepEqual(await cells.allInnerTexts(), ["2", "2"], "two runs of two iterations");
    const share = (bar) => bar.getBoundingClientRect().width / bar.parentElement.clientWidth;
    assert.ok((await plots.locator(".plot-bar").evaluate(share)) > 0.9);
    await visitor.ask("What is 6 * 9?");
    await visitor.until(plots.getByRole("cell", { name: "3", exact: true }));
    if (process.env.LOOPLET_PICTURE) await visitor.page.screenshot({ path: process.env.LOOPLET_PICTURE });
  });

  test("a legend says what the bars mean", async () => {
    await visitor.button("Trace").click();
    const legend = panel().getByRole("list", { name: "Meaning of the bars" });
    assert.equal(await legend.isVisible(), false, "there is no bar yet");
    await visitor.ask("What is 6 * 7?");
    assert.deepEqual(await legend.getByRole("listitem").allInnerTexts(), [
      "agent",
      "iteration",
      "model call",
      "tool",
      "wait",
      "failed",
    ]);
    const colour = (bar) => bar.evaluate((node) => getComputedStyle(node).backgroundColor);
    const sample = legend.getByRole("listitem").filter({ hasText: "model call" }).locator(".stretch");
    assert.equal(await colour(sample), await colour(row("practice-1").first().locator(".stretch")));
  });

  for (const [width, height] of [
    [1280, 860],
    [820, 1180],
    [390, 844],
  ])
    test(`the trace of agents is read whole in a window of ${width} pixels`, async () => {
      await visitor.page.setViewportSize({ width, height });
      await visitor.say("Ask the secretary to save the note: call Ada");
      await visitor.until(visitor.button("Allow"));
      await visitor.button("Allow").click();
      await visitor.until(visitor.summaries);
      await visitor.button("Trace").click();
      const clipped = await panel()
        .locator(".name, .took, .axis span")
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent),
        );
      assert.deepEqual(clipped, []);
      const box = await panel().boundingBox();
      if (width < 1000) assert.equal(box.width, width);
      if (width !== 820) return;
      const prompt = await visitor.prompt.boundingBox();
      assert.ok(prompt.y + prompt.height <= box.y, "the field stays in sight above it");
    });

  test("failed attempts and the waits between them show", async () => {
    await visitor.ask("/practice 529 x2\nWhat is 6 * 7?");
    await visitor.button("Trace").click();
    assert.deepEqual((await names()).slice(1, 5), [
      "Iteration 1",
      "practice-1, 3 attempts",
      "Waits for attempt 2",
      "Waits for attempt 3",
    ]);
    await rows().nth(3).getByRole("button").click();
    assert.match(await panel().locator(".more:visible").innerText(), /error\.type\s+overloaded/);
  });

  test("a step that goes on grows, and stands still when the run is stopped", async () => {
    await visitor.button("Trace").click();
    await visitor.say("Look up keys in the archive");
    await visitor.until(row("slow_lookup"));
    await visitor.page.clock.runFor(2_000);
    assert.equal(await row("slow_lookup").getAttribute("data-state"), "open");
    assert.match(await took("slow_lookup"), /^[12]\.\d s$/);
    await visitor.button("Stop").click();
    await visitor.summaries.waitFor();
    await visitor.page.clock.runFor(100);
    const before = await took("Run");
    await visitor.page.clock.runFor(5_000);
    assert.equal(await took("Run"), before);
    assert.equal(await panel().locator("[data-state=open]").count(), 0);
  });

  test("the keyboard walks through the steps and opens what is known", async () => {
    await visitor.ask("What is 6 * 7?");
    await visitor.button("Trace").press("Enter");
    await panel().getByRole("button", { name: "Run (agent)" }).focus();
    await visitor.page.keyboard.press("ArrowDown");
    await visitor.page.keyboard.press("ArrowDown");
    assert.match(await focused(), /practice-1/);
    await visitor.page.keyboard.press("Enter");
    const known = panel().locator(".more:visible");
    assert.match(
      await known.innerText(),
      /gen_ai\.usage\.input_tokens\s+\d+[\s\S]*finish_reasons\s+tool_calls/,
    );
    assert.equal(
      await panel().getByRole("button", { expanded: true }).innerText(),
      await focused(),
      "what is open says so",
    );
    await visitor.page.keyboard.press("Escape");
    assert.equal(await panel().isVisible(), false);
    assert.match(await focused(), /Trace/);
  });

  test("earlier runs can be looked at until a new chat forgets them", async () => {
    await visitor.ask("What is 6 * 7?");
    await visitor.ask("List my notes");
    await visitor.button("Trace").click();
    assert.ok((await names()).includes("list_notes"));
    await panel().getByRole("combobox", { name: "Run" }).selectOption({ label: "Run 1" });
    assert.ok((await names()).includes("calculator"));
    await visitor.button("New chat").click();
    assert.equal(await rows().count(), 0);
    assert.match(await panel().innerText(), /Ask something/);
  });

  test("there is room for the trace or the events, and the one opened last shows", async () => {
    await visitor.button("Trace").click();
    await visitor.button("Events").click();
    assert.equal(await panel().isVisible(), false);
    assert.equal(await visitor.button("Trace").getAttribute("aria-expanded"), "false");
    await visitor.button("Trace").click();
    assert.equal(await visitor.page.getByRole("complementary", { name: "Event log" }).isVisible(), false);
  });

  test("the spans can be copied, as looplet/trace writes them", async () => {
    await visitor.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visitor.ask("What is 6 * 7?");
    await visitor.button("Trace").click();
    await panel().getByRole("button", { name: "Copy" }).click();
    const text = await visitor.page.evaluate(() => navigator.clipboard.readText());
    const spans = text.split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(
      spans.map(({ name }) => name),
      ["execute_tool calculator", "chat practice-1", "chat practice-1", "invoke_agent"],
    );
    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
    assert.ok(!text.includes("6 * 7"), "no content is in a trace");
  });
});
