// The tab "Screens" of the playground: useChat, assistant-ui and CopilotKit on one chat of one agent, in Chromium.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { bundleScreens } from "../../../scripts/screens.mjs";
import { launch, serveSource } from "../../page/playground.mjs";

const names = ["useChat", "assistant-ui", "CopilotKit"];

describe("front ends of others on one chat", () => {
  let server, browser, page, complaints;
  before(async () => {
    await bundleScreens();
    [server, browser] = await Promise.all([serveSource(), launch()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${server.url}screens.html`);
    for (const name of names) await field(name).waitFor();
  });
  afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
  });

  const screen = (name) => page.getByRole("region", { name, exact: true });
  const field = (name) => screen(name).locator("textarea, input[name=text]").first();
  const ask = async (name, text) => {
    await field(name).fill(text);
    await field(name).press("Enter");
  };
  const shows = (name, text) => screen(name).getByText(text).first().waitFor();
  const count = (name, text) => screen(name).getByText(text).count();
  const button = (name) => page.getByRole("button", { name, exact: true });

  for (const asker of names)
    test(`a message to ${asker} and its answer show in all`, async () => {
      await ask(asker, "What is 6 * 7?");
      for (const name of names) {
        await shows(name, /6 \* 7 = 42/);
        assert.equal(await count(name, "What is 6 * 7?"), 1, name);
      }
      const next = names[(names.indexOf(asker) + 1) % names.length];
      await ask(next, "What is 7 * 8?");
      for (const name of names) await shows(name, /7 \* 8 = 56/);
    });

  for (const killed of names)
    test(`${killed} is killed while the others look on, and goes on where the run is`, async () => {
      await ask(killed, "Look up keys in the archive");
      for (const name of names) await shows(name, /Let me use/);
      await button(`Kill ${killed}`).click();
      assert.equal(await screen(killed).locator("textarea, input").count(), 0);
      await button(`Resume ${killed}`).click();
      for (const name of names) {
        await shows(name, /tools\.md/);
        assert.equal(await count(name, "Look up keys in the archive"), 1, name);
        assert.equal(await count(name, /^Let me use/), 1, name);
      }
    });

  test("one that comes back after the end shows the whole chat", async () => {
    for (const name of names) await button(`Kill ${name}`).click();
    await button("Resume useChat").click();
    await ask("useChat", "What is 6 * 7?");
    await shows("useChat", /6 \* 7 = 42/);
    for (const name of names.slice(1)) {
      await button(`Resume ${name}`).click();
      await shows(name, /6 \* 7 = 42/);
    }
  });

  test("a stop ends the run for all", async () => {
    await ask("assistant-ui", "Look up keys in the archive");
    for (const name of names) await shows(name, /Let me use/);
    await button("Stop the run").click();
    await ask("useChat", "What is 6 * 7?");
    for (const name of names) await shows(name, /6 \* 7 = 42/);
  });
});
