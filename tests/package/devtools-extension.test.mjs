// The panel of the browser's devtools, loaded unpacked from the package, beside a page with an agent.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { findBrowser } from "../../scripts/lib/browser.mjs";
import { installPacked } from "./install.mjs";

const executablePath = findBrowser("chromium")?.browser;
const inChromium = { skip: executablePath === undefined && "no Chromium" };

let installed;
before(async () => (installed = inChromium.skip ? undefined : await installPacked()));
after(() => installed?.remove());

const dist = () => join(installed.folder, "node_modules/looplet/dist");

/** The page of the agent. `ask(prompt)` runs it. */
const agentPage = `
import { anthropic, createAgent } from "looplet";
import { publish } from "looplet/devtools/publish";
import { scripted } from "looplet/practice";
const devtools = publish(new BroadcastChannel("looplet"), { name: "the shop" });
let fetch;
const agent = createAgent({
  model: anthropic("m", { apiKey: "plain-key-of-a-user-42", fetch: (...given) => fetch(...given) }),
  record: devtools.record,
});
devtools.offer({ shop: agent });
globalThis.ask = (prompt, text) => {
  fetch = scripted([{ text }, { text: "Said otherwise." }]);
  return agent.run(prompt).result.then(() => {});
};
`;

/** Opens the page and the panel of its tab, and does what `use({ page, panel, worker, errors })` does. */
async function beside(use) {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: agentPage, resolveDir: installed.folder },
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
  });
  const html = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
  const server = createServer(({ url }, response) => {
    const isScript = url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? outputFiles[0].text : html);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "looplet-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    ignoreDefaultArgs: ["--disable-extensions"],
    args: [
      "--no-sandbox",
      "--disable-gpu",
      `--load-extension=${dist()}`,
      "--disable-features=DisableLoadExtensionCommandLineSwitch",
    ],
  });
  try {
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => globalThis.ask !== undefined);
    const tab = await worker.evaluate(async () => {
      const [{ id }] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
      return id;
    });
    const panel = await context.newPage();
    const errors = [];
    panel.on("pageerror", (error) => errors.push(String(error)));
    panel.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await panel.goto(new URL(`panel.html?tab=${tab}`, worker.url()).href);
    await use({ context, page, panel, errors });
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

test("the panel shows the runs of its tab, and they go on from there", inChromium, () =>
  beside(async ({ page, panel, errors }) => {
    await panel.getByText("Attached to the shop").waitFor();
    await page.evaluate(() => globalThis.ask("Hello", "Good day."));
    await panel.getByText("Good day.").first().waitFor();
    await panel.getByRole("listbox").press("Home");
    await panel.getByRole("listbox").press("ArrowDown");
    await panel.getByRole("tab", { name: "Continue", exact: true }).click();
    await panel.getByLabel("System prompt").fill("Be brief.");
    await panel.getByRole("button", { name: "Continue from here" }).click();
    await panel.getByText(/forked at step/).waitFor();
    await panel.getByRole("tab", { name: "State", exact: true }).click();
    await panel.getByText("Said otherwise.").first().waitFor();
    assert.deepEqual(errors, []);
  }),
);

test("a page that is loaded again comes back, and so does a service worker", inChromium, () =>
  beside(async ({ context, page, panel }) => {
    const attached = panel.getByText("Attached to the shop");
    await attached.waitFor();
    await page.goto("about:blank");
    await attached.waitFor({ state: "detached" });
    await page.goBack();
    await attached.waitFor();
    const session = await context.browser().newBrowserCDPSession();
    const { targetInfos } = await session.send("Target.getTargets");
    for (const { type, targetId } of targetInfos)
      if (type === "service_worker") await session.send("Target.closeTarget", { targetId });
    await attached.waitFor();
    await page.waitForFunction(() => globalThis.ask !== undefined);
    await page.evaluate(() => globalThis.ask("Hello", "Good night."));
    await panel.getByText("Good night.").first().waitFor();
  }),
);

test("the extension asks for no permission, and sees pages of this machine alone", inChromium, () => {
  const manifest = JSON.parse(readFileSync(join(dist(), "manifest.json"), "utf8"));
  assert.deepEqual(
    Object.keys(manifest).filter((name) => /permissions|externally|web_accessible/.test(name)),
    [],
  );
  const [{ matches }] = manifest.content_scripts;
  for (const match of matches) assert.match(match, /^\*:\/\/(?:\*\.)?(?:localhost|127\.0\.0\.1)\/\*$/);
  assert.doesNotMatch(manifest.content_security_policy.extension_pages, /https?:|'unsafe-/);
});
