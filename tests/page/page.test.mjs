// A person's path through the playground.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("the playground", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  test("a question streams text, calls two tools side by side and ends with what it cost", async () => {
    await visitor.page.evaluate(watchText);
    await visitor.ask("What is 17 * 23 + 4, and what time is it in Tokyo?");

    assert.match(await visitor.card("calculator").innerText(), /17 \* 23 \+ 4[\s\S]*Result\s*395/);
    assert.match(await visitor.card("time").innerText(), /Asia\/Tokyo/);
    assert.equal(await visitor.page.locator(".calls").count(), 1);
    assert.match(await visitor.answers.last().innerText(), /395/);
    const summary = await visitor.summaries.innerText();
    assert.match(
      summary,
      /completed\s+2 iterations\s+2 tool calls\s+[\d,]+ tokens in\s+\d+ out.*\s+\$0\.\d+\s+finish: stop/,
    );
    const lengths = await visitor.page.evaluate(() => globalThis.seenLengths);
    assert.ok(lengths.length > 5, `the text grew in ${lengths.length} steps`);
  });

  for (const [wire, word] of [
    ["openai_chat", "OpenAI"],
    ["openai_responses", "Responses"],
    ["gemini", "Gemini"],
    ["bedrock_converse", "Bedrock"],
  ])
    test(`the practice provider also speaks the format of ${word}`, async () => {
      await visitor.button("Connection: Practice provider").click();
      await visitor.page.getByRole("combobox", { name: "Wire format" }).selectOption(wire);
      await visitor.button("Use this").click();
      await visitor.button(`Connection: Practice provider, ${word} format`).waitFor();
      await visitor.ask("What is 17 * 23 + 4, and what time is it in Tokyo?");
      assert.match(await visitor.card("calculator").innerText(), /395/);
      assert.match(await visitor.summaries.innerText(), /completed/);
    });

  test("reasoning is one line until it is opened", async () => {
    await visitor.ask("What is 6 * 7?");
    const reasoning = visitor.page.locator(".reasoning").first();
    assert.equal(await reasoning.locator(".reasoning-text").isVisible(), false);
    await reasoning.locator("summary").press("Enter");
    assert.match(await reasoning.locator(".reasoning-text").innerText(), /calculator/);
  });

  test("a first prompt is one click", async () => {
    await visitor.page.getByRole("button", { name: /Two tools at the same time/ }).click();
    await visitor.until(visitor.summaries);
    assert.equal(await visitor.page.locator("#welcome").isVisible(), false);
  });

  test("Stop ends the run at once, keeps what arrived, and the conversation goes on", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.button("Stop").click();
    await visitor.summaries.waitFor();

    assert.match(await visitor.summaries.innerText(), /cancelled/);
    assert.match(await visitor.card("slow_lookup").innerText(), /not finished/);
    assert.match(await visitor.transcript.innerText(), /You stopped the run/);
    assert.equal(await visitor.button("Stop").isVisible(), false);
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.answers.last().innerText(), /42/);
    const second = visitor.page.getByRole("region", { name: "Answer" }).last();
    assert.doesNotMatch(await second.innerText(), /slow_lookup|aborted/, "the old failure is not told again");
  });

  test("a message typed while it works steers it", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    const waiting = visitor.page.getByRole("list", { name: "Waiting to be delivered" });
    assert.match(await waiting.innerText(), /steer\s+Also calculate 6 \* 7/);

    await visitor.until(visitor.summaries);
    assert.equal(await waiting.isVisible(), false);
    const told = visitor.transcript.locator(".asked", { hasText: "Also calculate" });
    assert.match(await told.innerText(), /steer/);
    assert.equal(await visitor.summaries.count(), 1);
    assert.match(await visitor.card("calculator").innerText(), /42/);
    assert.ok(await comesBefore(told, visitor.card("calculator")));
  });

  test("a follow-up waits until the model has finished", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.page.getByText("Follow up", { exact: true }).click();
    await visitor.say("What is 6 * 7?");
    await visitor.until(visitor.summaries);

    const asked = visitor.transcript.locator(".asked", { hasText: "6 * 7" });
    assert.match(await asked.innerText(), /follow-up/);
    assert.ok(await comesBefore(visitor.card("slow_lookup"), asked));
    assert.ok(await comesBefore(visitor.answers.nth(1), asked), "the first question is answered first");
    assert.match(await visitor.answers.last().innerText(), /42/);
  });

  test("a waiting message can be taken back", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    await visitor.button("Take back: Also calculate 6 * 7").click();
    await visitor.until(visitor.summaries);
    assert.equal(await visitor.card("calculator").count(), 0);
    assert.equal(await visitor.transcript.locator(".asked").count(), 1);
  });

  test("a stopped run gives an undelivered message back to the field", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.say("Also calculate 6 * 7");
    await visitor.page.keyboard.press("Escape");
    await visitor.summaries.waitFor();
    assert.equal(await visitor.prompt.inputValue(), "Also calculate 6 * 7");
  });

  test("a tool that fails says so in its card and the run goes on", async () => {
    await visitor.ask("Calculate 7 / 0");
    assert.match(await visitor.card("calculator").innerText(), /failed[\s\S]*no_finite_value/);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("notes survive a reload", async () => {
    await visitor.say("Save the note: water the plants");
    await visitor.until(visitor.button("Allow"));
    await visitor.button("Allow").click();
    await visitor.until(visitor.summaries);
    await visitor.page.reload();
    await visitor.ask("List my notes");
    assert.match(await visitor.card("list_notes").innerText(), /water the plants/);
  });

  test("a document is fetched by a tool", async () => {
    await visitor.ask("Read the document limits.md");
    await visitor.unfold("read_document");
    assert.match(await visitor.card("read_document").innerText(), /A run ends as completed/);
  });

  test("a long card folds to one line with its result; a short one, and one that was touched, stays", async () => {
    const isOpen = (name, nth = 0) =>
      visitor
        .card(name)
        .nth(nth)
        .locator("> details")
        .evaluate((card) => card.open);
    const tall = (name) =>
      visitor
        .card(name)
        .first()
        .evaluate((card) => card.offsetHeight);
    await visitor.ask("What is 6 * 7, and read the document limits.md");
    assert.equal(await isOpen("calculator"), true);
    assert.equal(await isOpen("read_document"), false);
    assert.ok((await tall("read_document")) < 60, "one line");
    assert.match(
      await visitor.card("read_document").innerText(),
      /^done[^\n]*\s+read_document\s+limits\.md$/,
    );
    await visitor.card("read_document").locator("summary").press("Enter");
    assert.ok((await tall("read_document")) > 200);

    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    const summary = visitor.card("slow_lookup").locator("summary");
    await summary.click();
    await summary.click();
    await visitor.until(visitor.summaries.nth(1));
    assert.equal(await isOpen("slow_lookup"), true, "it is being read");
  });

  test("a new chat forgets the old one, even while it runs", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.button("New chat").click();
    assert.equal(await visitor.transcript.innerText(), "");
    await visitor.ask("What is 6 * 7?");
    assert.equal(await visitor.card("slow_lookup").count(), 0);
    assert.equal(await visitor.summaries.count(), 1);
    const types = await visitor.page
      .locator(".rows > li")
      .evaluateAll((rows) => rows.map(({ dataset }) => dataset.type));
    assert.equal(types[0], "run-start");
    assert.ok(!types.includes("abort"), "the log is that of the new run");
  });

  test("the event log shows every event in order and can be filtered", async () => {
    await visitor.ask("What is 6 * 7?");
    await visitor.button("Events").click();
    const log = visitor.page.getByRole("complementary", { name: "Event log" });
    const rows = log.locator(".rows > li:visible");
    const numbers = (await log.locator(".seq").allInnerTexts()).map(Number);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    assert.equal(await rows.first().getAttribute("data-type"), "run-start");
    assert.equal(await rows.last().getAttribute("data-type"), "finish");

    await log.getByRole("searchbox", { name: "Filter events" }).fill("calculator");
    await log.getByRole("combobox", { name: "Kind of events" }).selectOption("tools");
    const types = await rows.evaluateAll((items) => items.map((item) => item.dataset.type));
    assert.ok(types.includes("tool-result"), types.join());
    assert.ok(types.every((type) => type.startsWith("tool")));
    await rows.last().locator("summary").press("Enter");
    assert.match(await rows.last().locator("pre").innerText(), /"toolName": "calculator"/);
    await visitor.page.keyboard.press("Escape");
    assert.equal(await log.isVisible(), false);
  });

  test("the keyboard alone is enough", async () => {
    const { page } = visitor;
    const focused = () => page.evaluate(() => document.activeElement.innerText || document.activeElement.id);
    await page.locator("#prompt:focus").waitFor();
    await page.keyboard.type("What is 6 * 7?");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("And look up keys in the archive");
    assert.equal(await visitor.prompt.inputValue(), "What is 6 * 7?\nAnd look up keys in the archive");
    await page.keyboard.press("Enter");
    await visitor.until(page.locator("progress"));
    assert.equal(await focused(), "prompt");

    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByRole("radio", { name: "Follow up" }).isChecked(), true);
    await page.keyboard.press("Tab");
    assert.equal((await focused()).trim(), "Stop");
    await page.keyboard.press("Enter");
    await visitor.summaries.waitFor();
    assert.equal(await focused(), "prompt", "focus is not lost with the button");
  });

  test("the tab of other front ends says how it gets their packages", async () => {
    await visitor.page.route("**/screens/chats.js", (route) => route.fulfill({ contentType: "text/html" }));
    await visitor.page.getByRole("link", { name: "Screens" }).click();
    await visitor.page.getByText("npm start -- --screens").waitFor();
  });

  test("Escape stops a run", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    await visitor.page.keyboard.press("Escape");
    await visitor.summaries.waitFor();
    assert.match(await visitor.summaries.innerText(), /cancelled/);
  });

  test("an answer is announced when it is whole", async () => {
    await visitor.say("Look up keys in the archive");
    await visitor.until(visitor.page.locator("progress"));
    const answer = visitor.page.getByRole("region", { name: "Answer" });
    assert.equal(await answer.getAttribute("aria-busy"), "true");
    assert.equal(await visitor.transcript.getAttribute("aria-live"), "polite");
    await visitor.until(visitor.summaries);
    assert.equal(await answer.getAttribute("aria-busy"), "false");
  });
});

/** Notes each new length of the answers' text, in the page. */
function watchText() {
  globalThis.seenLengths = [];
  const transcript = document.getElementById("transcript");
  new MutationObserver(() => {
    const texts = [...transcript.querySelectorAll(".markdown")].map((part) => part.textContent);
    const length = texts.join("").length;
    if (length > (globalThis.seenLengths.at(-1) ?? 0)) globalThis.seenLengths.push(length);
  }).observe(transcript, { childList: true, subtree: true, characterData: true });
}

async function comesBefore(first, second) {
  const [a, b] = await Promise.all([first.elementHandle(), second.elementHandle()]);
  return a.evaluate(
    (node, other) => (node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    b,
  );
}
