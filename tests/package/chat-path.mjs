// What a person does in a chat, in a browser: one path for every chat of the documentation that has the labels of
// docs/tasks/react.md, wherever its agent is.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { vendorThat } from "./docs-vendor.mjs";

/**
 * The shop of one chat. `others` are what a page's server answers, and `answer(practice, body)` is the `fetch` of its
 * model: it orders, lists, waits, refuses, or says what it was told.
 */
export function shop() {
  let refusals = 0;
  let isHeld = false;

  function turnFor(messages) {
    const { content } = messages.at(-1);
    // The results of a run that was stopped stand before the next message of the person.
    const told = content.filter(({ type }) => type !== "tool_result");
    if (told.length === 0) return { text: `Done: ${JSON.stringify(content[0].content)}` };
    const said = told.map(({ type, text }) => text ?? type).join(" ");
    const call = (name, input) => ({ toolCalls: [{ id: `toolu_${messages.length}`, name, input }] });
    isHeld = said.includes("slowly");
    if (said.includes("order")) return call("order", { title: "Emma" });
    if (said.includes("stock")) return call("stock", {});
    if (said.includes("wait")) return { text: ["Half", " of", " it"], stall: 4 };
    if (said.includes("fail") && refusals++ % 2 === 0) return { status: 400 };
    return { text: ["You said ", said, "."] };
  }

  const answer = ({ scripted }, body) => scripted([turnFor(JSON.parse(body).messages)]);
  return {
    answer,
    /** Whether the tool `stock` is to come to no end. */
    isHeld: () => isHeld,
    others: {
      "/api/anthropic": vendorThat(answer),
      "/api/stock"(_, response) {
        response.writeHead(200, { "content-type": "application/json" });
        if (isHeld) response.flushHeaders();
        else response.end(JSON.stringify(["Emma", "Ulysses"]));
      },
    },
  };
}

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A phone's screen. */
const PHONE = { width: 390, height: 844 };

/**
 * A person's path through a chat with a `shop`. `keepsVersions` is false for a chat that cannot show the version
 * before an edit again, and `showsStopped` for one that shows a call that was stopped as one at work.
 */
export async function personsPath(page, { keepsVersions = true, showsStopped = true } = {}) {
  const field = page.getByRole("textbox", { name: "Message" });
  const stop = page.getByRole("button", { name: "Stop" });
  const write = async (text) => {
    await field.fill(text);
    await field.press("Enter");
  };
  const answers = page.getByRole("article", { name: "assistant" });
  /** The last answer says this. */
  const said = (text) => answers.last().getByText(text).waitFor();
  const isIdle = () => stop.waitFor({ state: "detached" });
  const ask = async (text, answer) => {
    await write(text);
    await said(answer);
    await isIdle();
  };

  await page.getByRole("navigation", { name: "Conversations" }).waitFor();
  await ask("What is in stock?", "Done: ");
  await said('output-available ["Emma","Ulysses"]');

  // An approval that outlives a reload.
  await write("Please order it");
  await page.getByRole("group", { name: "Approval" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Allow" }).click();
  await said('order {"title":"Emma"}: output-available "Ordered Emma."');
  await said("Done: ");
  await isIdle();
  assert.equal(await page.getByText('order {"title":"Emma"}').count(), 1);

  await write("Please order another");
  await page.getByRole("button", { name: "Deny" }).click();
  await said('order {"title":"Emma"}: output-denied');
  await said("Done: ");
  await isIdle();

  // Stop in the middle of a tool, and in the middle of a text that streams, and go on.
  await write("Look into the stock slowly");
  await said("stock {}: input-available");
  await stop.click();
  await isIdle();
  if (showsStopped) await said("stock {}: output-error");
  await write("Now wait");
  await said("Half");
  await stop.click();
  await isIdle();
  await ask("Hello", "You said Hello.");

  // Another text for a message, and back to the first one.
  const count = await page.getByRole("article").count();
  page.once("dialog", (dialog) => dialog.accept("Good day"));
  await page.getByRole("article", { name: "user" }).last().getByRole("button", { name: "Edit" }).click();
  await said("You said Good day.");
  await isIdle();
  assert.equal(await page.getByRole("article").count(), count);
  if (keepsVersions) {
    await page.getByRole("button", { name: "Version 2 of 2" }).click();
    await said("You said Hello.");
  }
  await page.reload();
  await said(keepsVersions ? "You said Hello." : "You said Good day.");
  assert.equal(await page.getByRole("article").count(), count);
  if (keepsVersions) await page.getByRole("button", { name: "Version 1 of 2" }).waitFor();
  assert.equal(await page.getByText("output-denied").count(), 1);

  // A failure, and another try.
  await write("Do fail");
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  await said("You said Do fail.");
  await isIdle();
  assert.equal(await page.getByRole("alert").count(), 0);

  await page.getByLabel("Images").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: PNG });
  await ask("Look", "You said image Look.");
  assert.equal(await page.getByRole("img", { name: "dot.png" }).count(), 1);

  await byKeyboard(page, { said, isIdle });
  await heard(page);
  await page.setViewportSize(PHONE);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width);
  await heard(page);

  // Two conversations.
  await page.getByRole("button", { name: "New" }).click();
  await page.getByRole("article").first().waitFor({ state: "detached" });
  await ask("Something else", "You said Something else.");
  await page.getByRole("button", { name: "What is in stock?" }).click();
  await said("You said Keys.");
  await page.reload();
  await said("You said Keys.");
}

/** A person without a mouse: sends, stops, denies and allows. */
async function byKeyboard(page, { said, isIdle }) {
  /** Presses a key until the control with this name has the focus. */
  const tabTo = async (name, key = "Tab") => {
    for (let presses = 0; presses < 100; presses += 1) {
      if ((await page.evaluate(nameOfFocused)) === name) return;
      await page.keyboard.press(key);
    }
    throw new Error(`no press of ${key} leads to ${name}`);
  };
  const type = async (text) => {
    await tabTo("Message");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  };
  const press = async (name, key) => {
    await page.getByRole("button", { name }).waitFor();
    await tabTo(name, key);
    await page.keyboard.press("Enter");
  };
  await type("Please order with a key");
  await press("Deny", "Shift+Tab");
  await said("output-denied");
  await said("Done: ");
  await isIdle();
  await type("Please order again");
  await press("Allow", "Shift+Tab");
  await said('output-available "Ordered Emma."');
  await said("Done: ");
  await isIdle();
  await type("Now wait");
  await said("Half");
  await press("Stop");
  await isIdle();
  await type("Keys");
  await said("You said Keys.");
  await isIdle();
}

function nameOfFocused() {
  const { activeElement } = document;
  return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent;
}

/** A person who hears the page. */
async function heard(page) {
  if (!(await page.evaluate(() => "axe" in globalThis)))
    await page.addScriptTag({ path: fileURLToPath(import.meta.resolve("axe-core/axe.min.js")) });
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }),
  );
  assert.deepEqual(
    violations.map(({ id, help }) => `${id}: ${help}`),
    [],
  );
}
