// The playground as a person meets it: built and served by Vite, opened in Chromium, with the practice provider
// behind it. Time in the page is virtual, so that waiting costs none.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build, createServer, preview } from "vite";
import { chromiumArgs } from "../../scripts/lib/browser.mjs";

const root = fileURLToPath(new URL("../../www", import.meta.url));
const quiet = { root, logLevel: "warn" };
const host = { host: "127.0.0.1", port: 0 };

/** Why the tests of the page cannot run here, or false. */
export const skip = process.env.LOOPLET_CHROMIUM ? false : "no Chromium";

/** The page as it is built for a web server, where it opens in a third of the time: `{ url, close }`. */
export async function serve() {
  await build(quiet);
  const server = await preview({ ...quiet, preview: host });
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}

/** What `npm start` serves: `{ url, close }`. */
export async function serveSource() {
  const server = await createServer({ ...quiet, server: { ...host, hmr: false } });
  await server.listen();
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.LOOPLET_CHROMIUM,
    args: chromiumArgs,
  });
}

/**
 * Within a `describe`: a server and a browser for all of its tests, and a visitor for each, of whom `meet` is told.
 * None of them may have complained at the end, unless `mayComplain`.
 */
export function eachVisits(meet, { mayComplain = false } = {}) {
  let server, browser, visitor;
  before(async () => ([server, browser] = await Promise.all([serve(), launch()])));
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.open(browser, server.url);
    meet(visitor, { server, browser });
  });
  afterEach(async () => {
    await visitor?.close();
    if (!mayComplain) assert.deepEqual(visitor?.complaints, []);
  });
}

/** A fresh visitor in a browser of their own. `complaints` collects everything that page and browser complain about. */
export class Visitor {
  complaints = [];

  static async open(browser, url, { prepare, ...options } = {}) {
    const visitor = new Visitor();
    visitor.context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
    visitor.page = await visitor.context.newPage();
    visitor.page.on("pageerror", (error) => visitor.complaints.push(error.message));
    visitor.page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") visitor.complaints.push(message.text());
    });
    await visitor.page.clock.install();
    await prepare?.(visitor.page);
    await visitor.page.goto(url);
    return visitor;
  }

  get prompt() {
    return this.page.getByRole("textbox", { name: "Message" });
  }

  get transcript() {
    return this.page.getByRole("log", { name: "Conversation" });
  }

  get answers() {
    return this.transcript.locator(".markdown");
  }

  /** The last lines of finished runs. */
  get summaries() {
    return this.transcript.locator(".summary");
  }

  card(name) {
    return this.page.getByRole("article", { name: `Tool call ${name}` });
  }

  /** Opens the card of a long result. */
  async unfold(name) {
    const card = this.card(name).locator("> details");
    if (!(await card.evaluate(({ open }) => open))) await card.locator("> summary").click();
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Unfolds the controls above the field. */
  async openControls() {
    const toggle = this.page.getByRole("button", { name: /^Controls:/ });
    if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click();
  }

  async say(text) {
    await this.prompt.fill(text);
    await this.prompt.press("Enter");
  }

  /** Asks, and waits for the end of the run. */
  async ask(text) {
    const before = await this.summaries.count();
    await this.say(text);
    await this.until(this.summaries.nth(before));
  }

  /** Lets the page's time pass until `locator` is there. */
  async until(locator) {
    for (let passedMs = 0; passedMs < 120_000; passedMs += 100) {
      if (await locator.first().isVisible()) return;
      await this.page.clock.runFor(100);
    }
    throw new Error(
      `${locator} never came.\n${await this.transcript.innerText()}\n${this.complaints.join("\n")}`,
    );
  }

  close() {
    return this.context.close();
  }
}
