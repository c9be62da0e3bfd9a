// A run as a file: saved, opened, stepped through, forked, and made into a test.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { eachVisits, skip } from "./playground.mjs";

describe("a run file", { skip }, () => {
  let visitor;
  eachVisits((fresh) => (visitor = fresh));

  const dialog = () => visitor.page.getByRole("dialog");
  const inside = (role, name) => dialog().getByRole(role, { name, exact: true });
  const place = () => dialog().locator(".place").innerText();
  const state = () => inside("region", "State behind this step");
  const settle = () => visitor.page.clock.runFor(50);
  const press = async (...keys) => {
    for (const key of keys) await visitor.page.keyboard.press(key);
    await settle();
  };
  /** Saves the latest run. */
  const saved = async () => {
    await visitor.button("Run file").click();
    const [download] = await Promise.all([
      visitor.page.waitForEvent("download"),
      inside("button", "Save it as a file").click(),
    ]);
    const text = await readFile(await download.path(), "utf8");
    return { name: download.suggestedFilename(), text };
  };
  const choose = async ({ name, text }) => {
    const buffer = Buffer.from(text);
    await dialog().locator("[type=file]").setInputFiles({ name, mimeType: "application/json", buffer });
    await visitor.until(dialog().locator(".place, .form-error p"));
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

  test("is saved, opened in a fresh page, and shows the state of each moment", async () => {
    await visitor.ask("What is 6 * 7, and what time is it in Tokyo?");
    const file = await saved();
    assert.match(file.name, /^run_\w+\.loop$/);
    assert.match(file.text, /^\{"loop":1,/);
    await press("Escape");
    await visitor.button("New chat").click();
    assert.equal(await drop(file), true);
    await visitor.until(dialog().locator(".place"));
    await settle();
    // It begins at the end.
    assert.match(await place(), /^Step (\d+) of \1: .*finish/);
    assert.match(await state().innerText(), /completed[^]*2 iterations[^]*6 \* 7[^]*Result[^]*42/);
    // The keyboard is on the slider.
    await press("Home");
    assert.match(await place(), /^Step 1 of \d+: The prompt/);
    assert.equal(await inside("button", "Back").isDisabled(), true);
    assert.match(await state().innerText(), /at work/);
    await press("ArrowRight");
    assert.match(await place(), /^Step 2 .*iteration-start/);
    assert.match(await state().innerText(), /1 request under way/);
    assert.match(await inside("region", "This step").innerText(), /Requests\s+POST https:/);
    await inside("button", "Back").click();
    await settle();
    assert.match(await place(), /^Step 1 /);
    // A step of the list, and every input instead of the telling ones.
    const steps = () => inside("list", "Steps").getByRole("listitem").count();
    const few = await steps();
    await inside("list", "Steps")
      .getByText(/calls calculator/)
      .click();
    await settle();
    assert.match(await state().innerText(), /calculator has no result yet/);
    await dialog().getByLabel("Every input").check();
    await settle();
    assert.ok((await steps()) > few);
    assert.match(await place(), /calls calculator/);
  });

  test("goes on from a moment with another model, prompt and set of tools, and a question that was open", async () => {
    await visitor.say("Save the note: water the plants");
    const approval = visitor.page.getByRole("group", { name: "Approval of add_note" });
    await visitor.until(approval);
    await approval.getByRole("button", { name: "Deny", exact: true }).click();
    await approval.getByRole("button", { name: "Deny", exact: true }).click();
    await visitor.until(visitor.summaries);
    await visitor.button("Run file").click();
    await inside("button", "Step through the latest run").click();
    await visitor.until(dialog().locator(".place"));
    await settle();
    await inside("list", "Steps")
      .getByText(/asks permission of add_note/)
      .first()
      .click();
    await settle();
    assert.match(await state().innerText(), /A question waits: permission of add_note/);
    await dialog().getByText("Fork the run at this step").click();
    await inside("combobox", "Model").selectOption("practice-mini");
    await inside("textbox", "System prompt").fill("You are brief.");
    await inside("checkbox", "slow_lookup").uncheck();
    await inside("textbox", "What the model is told about calculator").fill("Adds apples.");
    await inside("button", "Go on from here").click();
    await visitor.until(approval);
    assert.equal(await dialog().count(), 0);
    assert.match(
      await visitor.transcript.innerText(),
      /Save the note[^]*Forked here, at step \d+ of run_\w+\.loop/,
    );
    await approval.getByRole("button", { name: "Allow", exact: true }).click();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /completed/);
    assert.match(await visitor.page.locator(".controls-toggle").innerText(), /practice-mini/);
    const notes = await visitor.page.evaluate(() => localStorage.getItem("looplet.notes"));
    assert.equal(JSON.parse(notes).length, 1);
    // The file of the fork has the new options.
    const { text } = await saved();
    assert.match(text, /You are brief\./);
    assert.match(text, /practice-mini/);
    assert.match(text, /"name":"calculator","description":"Adds apples\."/);
    assert.doesNotMatch(
      text,
      /"name":"slow_lookup","description":"[^"]*","inputSchema"[^]*"system":"You are brief/,
    );
    await press("Escape");
    // A reload shows the fork again; a new chat has the page's own prompt.
    await visitor.page.reload();
    await visitor.page.clock.runFor(100);
    assert.match(await visitor.transcript.innerText(), /Forked here/);
    await visitor.button("New chat").click();
    await visitor.ask("What is 6 * 7?");
    assert.doesNotMatch((await saved()).text, /You are brief\./);
  });

  test("asks what became of a call that was under way at the moment of the fork", async () => {
    const notes = () =>
      visitor.page.evaluate(() => JSON.parse(localStorage.getItem("looplet.notes") ?? "[]"));
    await visitor.openControls();
    await visitor.page.getByRole("combobox", { name: "Permissions" }).selectOption({ label: "Accept edits" });
    await visitor.ask("Save the note: water the plants");
    assert.equal((await notes()).length, 1);
    const file = await saved();
    await press("Escape");
    for (const [choice, count, output] of [
      ["Leave it", 1, /The user left it undone/],
      ["It was done", 1, /The user says that it was done/],
      ["Run it again", 2, /water the plants/],
    ]) {
      await visitor.button("Run file").click();
      await choose(file);
      await inside("list", "Steps")
        .getByText(/calls add_note/)
        .first()
        .click();
      await settle();
      await dialog().getByText("Fork the run at this step").click();
      await inside("button", "Go on from here").click();
      const asked = visitor.page.getByRole("group", { name: "What became of add_note" });
      await visitor.until(asked);
      await asked.getByRole("button", { name: choice, exact: true }).click();
      await visitor.until(visitor.summaries);
      assert.match(await visitor.summaries.innerText(), /completed/);
      assert.equal((await notes()).length, count, choice);
      await visitor.unfold("add_note").catch(() => {});
      assert.match(await visitor.card("add_note").first().innerText(), output);
    }
  });

  test("becomes a test", async () => {
    await visitor.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visitor.ask("What is 6 * 7?");
    const file = await saved();
    await choose({ ...file, name: "bug.loop" });
    await inside("button", "Copy as test").click();
    await visitor.until(dialog().getByText(/Copied/));
    const code = await visitor.page.evaluate(() => navigator.clipboard.readText());
    assert.match(code, /import \{ expectReplay \} from "looplet\/testing";/);
    assert.match(code, /new URL\("bug\.loop", import\.meta\.url\)/);
    await import("looplet");
    const { expectReplay } = await import("looplet/testing");
    const { at, steps } = await expectReplay(file.text);
    assert.equal(at(steps.length - 1).outcome, "completed");
  });

  test("that cannot be read says why, and the next one opens", async () => {
    await visitor.ask("What is 6 * 7?");
    const file = await saved();
    const problem = () => dialog().getByRole("alert").first().innerText();
    for (const [text, why] of [
      ["Hello", /no \.loop file: run\.export\(\) writes one/],
      ["{}", /no \.loop file/],
      [file.text.slice(0, -100), /cut off or damaged/],
      [file.text.replace('"loop":1', '"loop":99'), /a newer version/],
      [file.text.replaceAll('"random":"', '"random":"x'), /cannot be played/],
    ]) {
      await choose({ name: "bad.loop", text });
      assert.match(await problem(), /^bad\.loop cannot be opened\./);
      assert.match(await problem(), why);
    }
    await choose(file);
    assert.match(await place(), /^Step \d+/);
    assert.equal(await problem(), "");
  });

  test("is not there before the first run", async () => {
    await visitor.button("Run file").click();
    assert.equal(await inside("button", "Save it as a file").isDisabled(), true);
    assert.match(await dialog().innerText(), /No run has begun/);
    await press("Escape");
    assert.equal(await dialog().count(), 0);
  });
});
