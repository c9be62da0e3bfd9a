// The devtools of the page: runs while they go on, files that are saved and opened, and forks into the chat.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("the devtools of the page", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const panel = () => visitor.page.getByRole("complementary", { name: "Devtools" });
  const inside = (role, name) => panel().getByRole(role, { name, exact: typeof name === "string" });
  const place = () => panel().locator(".place").innerText();
  const state = () => panel().getByRole("tabpanel");
  const settle = () => visitor.page.clock.runFor(100);
  const press = async (...keys) => {
    for (const key of keys) await visitor.page.keyboard.press(key);
    await settle();
  };
  const show = async () => {
    if (!(await panel().isVisible())) await visitor.button("Devtools").click();
    await visitor.until(inside("button", "Open a file"));
    await settle();
  };
  const click = async (locator) => {
    await visitor.until(locator);
    await locator.click();
    await settle();
  };
  /** Saves the run that is looked at. */
  const saved = async () => {
    await click(inside("button", "Save…"));
    const [download] = await Promise.all([
      visitor.page.waitForEvent("download"),
      inside("button", "Save").click(),
    ]);
    await settle();
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  };
  const choose = async ({ name, text }) => {
    const buffer = Buffer.from(text);
    await panel().locator("[type=file]").setInputFiles({ name, mimeType: "application/json", buffer });
    await visitor.until(panel().locator(`.app > .problem, h2:text-is("${name}")`));
    await settle();
  };
  const drop = ({ name, text }) =>
    visitor.page.evaluate(
      ([name, text]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], name));
        const tell = (type) =>
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        tell("dragover");
        const isMarked = document.body.classList.contains("dropping");
        tell("drop");
        return isMarked;
      },
      [name, text],
    );

  test("show a run, save it, and show it again in a fresh page", async () => {
    await visitor.ask("What is 6 * 7, and what time is it in Tokyo?");
    await show();
    const file = await saved();
    assert.match(file.name, /^[\w-]+\.loop$/);
    assert.match(file.text, /^\{"loop":1,/);
    await visitor.button("Close the devtools").click();
    await visitor.page.reload();
    assert.equal(await drop({ ...file, name: "kept.loop" }), true);
    await visitor.until(panel().getByRole("heading", { name: "kept.loop" }));
    await settle();
    // It begins at the end.
    assert.match(await place(), /^Step (\d+) of \1,.*completed/);
    assert.match(await state().innerText(), /6 \* 7[^]*result[^]*42/);
    await panel().getByRole("listbox").focus();
    await press("Home");
    assert.match(await place(), /^Step 1 of \d+, 0 ms: Prompt/);
    assert.equal(await inside("button", "Step back").isDisabled(), true);
    await press("ArrowDown");
    assert.match(await place(), /^Step 2 .*iteration 1/);
    assert.match(await state().innerText(), /A request to practice-1/);
    await click(inside("tab", "Step"));
    assert.match(await state().innerText(), /Input[^]*handedOver[^]*Requests\s+https:/);
    // The bars of the timeline lie in lanes of the model and of each tool.
    assert.match(
      await panel().locator(".names").innerText(),
      /agent\s+calculator\s+clock|agent[^]*calculator/,
    );
    const few = Number(
      await inside("listbox", "Steps").getByRole("option").first().getAttribute("aria-setsize"),
    );
    await panel().getByLabel("Every input").check();
    await settle();
    assert.ok(
      Number(await inside("listbox", "Steps").getByRole("option").first().getAttribute("aria-setsize")) > few,
    );
  });

  test("let a run go on from a moment with another model, prompt and set of tools", async () => {
    await visitor.say("Save the note: water the plants");
    const approval = visitor.page.getByRole("group", { name: "Approval of add_note" });
    await visitor.until(approval);
    await show();
    // The run is seen while it waits.
    await visitor.until(panel().getByText("A question waits: permission of add_note"));
    await approval.getByRole("button", { name: "Deny", exact: true }).click();
    await approval.getByRole("button", { name: "Deny", exact: true }).click();
    await visitor.until(visitor.summaries);
    await click(
      panel()
        .getByRole("option", { name: /asks permission of add_note/ })
        .first(),
    );
    await click(inside("tab", "Continue"));
    await inside("combobox", "Agent").selectOption({ label: "practice-mini" });
    await settle();
    await inside("textbox", "System prompt").fill("You are brief.");
    await inside("checkbox", "slow_lookup").uncheck();
    await inside("button", "Continue from here").click();
    await visitor.until(approval);
    assert.equal(await panel().isVisible(), false);
    assert.match(await visitor.transcript.innerText(), /Save the note[^]*Forked here, at step \d+ of [\w-]+/);
    await approval.getByRole("button", { name: "Allow", exact: true }).click();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /completed/);
    assert.match(await visitor.page.locator(".controls-toggle").innerText(), /practice-mini/);
    const notes = await visitor.page.evaluate(() => localStorage.getItem("looplet.notes"));
    assert.equal(JSON.parse(notes).length, 1);
    // The file of the fork has the new options.
    await show();
    await click(
      panel()
        .getByRole("button", { name: /^fork_/ })
        .first(),
    );
    const { text } = await saved();
    assert.match(text, /You are brief\./);
    assert.match(text, /practice-mini/);
    // A reload shows the fork again; a new chat has the page's own prompt.
    await visitor.page.reload();
    await settle();
    assert.match(await visitor.transcript.innerText(), /Forked here/);
    await visitor.button("New chat").click();
    await visitor.ask("What is 6 * 7?");
    await show();
    assert.doesNotMatch((await saved()).text, /You are brief\./);
  });

  test("ask what became of a call that was under way at the moment of the fork", async () => {
    const notes = () =>
      visitor.page.evaluate(() => JSON.parse(localStorage.getItem("looplet.notes") ?? "[]"));
    await visitor.openControls();
    await visitor.page.getByRole("combobox", { name: "Permissions" }).selectOption({ label: "Accept edits" });
    await visitor.ask("Save the note: water the plants");
    assert.equal((await notes()).length, 1);
    await show();
    const file = { ...(await saved()), name: "note.loop" };
    for (const [choice, count, output] of [
      ["Leave it", 1, /The user left it undone/],
      ["It was done", 1, /The user says that it was done/],
      ["Run it again", 2, /water the plants/],
    ]) {
      await show();
      await choose(file);
      await click(
        panel()
          .getByRole("option", { name: /runs add_note/ })
          .first(),
      );
      await click(inside("tab", "Continue"));
      await inside("button", "Continue from here").click();
      const asked = visitor.page.getByRole("group", { name: "What happened to add_note" });
      await visitor.until(asked);
      await asked.getByRole("button", { name: choice, exact: true }).click();
      await visitor.until(visitor.summaries);
      assert.match(await visitor.summaries.innerText(), /completed/);
      assert.equal((await notes()).length, count, choice);
      await visitor.unfold("add_note").catch(() => {});
      assert.match(await visitor.card("add_note").first().innerText(), output);
    }
  });

  test("say why a run does not go on, and why a file cannot be read", async () => {
    await visitor.ask("What is 6 * 7?");
    await show();
    await click(inside("tab", "Continue"));
    await inside("textbox", "Other options of the agent, as JSON").fill('{ "limits": {} }');
    await click(inside("button", "Continue from here"));
    assert.match(await panel().getByRole("alert").innerText(), /The page sets the other options/);
    const file = await saved();
    for (const [text, why] of [
      ["Hello", /not a \.loop file: run\.export\(\) writes one/],
      [file.text.slice(0, -100), /cut off or damaged/],
      [file.text.replace('"loop":1', '"loop":99'), /a newer version/],
    ]) {
      await choose({ name: "bad.loop", text });
      await visitor.until(panel().locator(".app > .problem"));
      const problem = await panel().locator(".app > .problem").innerText();
      assert.match(problem, /^bad\.loop cannot be opened\./);
      assert.match(problem, why);
    }
    // A file that fails in its middle is shown up to there.
    await choose({ name: "broken.loop", text: file.text.replaceAll('"random":"', '"random":"x') });
    assert.match(await panel().locator(".pane > .problem").innerText(), /cannot be played: input 1/);
    await choose({ ...file, name: "good.loop" });
    assert.equal(await panel().locator(".app > .problem").count(), 0);
    await import("looplet");
    const { expectReplay } = await import("looplet/testing");
    await expectReplay(file.text);
  });
});
