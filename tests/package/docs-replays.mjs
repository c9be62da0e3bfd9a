// What the examples about recorded runs must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "./devtools-kit.mjs";
import { vendor } from "./docs-vendor.mjs";

/** Writes a run of an agent as that of the page about comparisons, under its prompt or another one. */
async function recordRun(
  { looplet: { anthropic, createAgent, tool }, practice: { scripted }, folder },
  system,
) {
  const { recorder } = await import("looplet/replay");
  const weather = tool({
    description: "Current weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    readOnly: true,
    execute: ({ city }) => `Rain in ${city}`,
  });
  const fetch = scripted([
    { toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
    { text: "Take one." },
  ]);
  const model = anthropic("claude-sonnet-4-6", { fetch });
  const run = createAgent({ model, system, tools: { weather }, record: recorder() }).run("Umbrella?");
  await run.result;
  await mkdir(join(folder, "runs"), { recursive: true });
  await writeFile(join(folder, "runs/umbrella.loop"), run.export());
}

export const replays = {
  "compare/compare.test.ts": { isTest: true, before: (kit) => recordRun(kit, "Be kind.") },
  "compare/compare.ts": { isTest: true, before: (kit) => recordRun(kit, "Be kind.") },
  "compare/live.ts": {
    async before({ answer, ...kit }) {
      await recordRun(kit, "Be brief.");
      const judgement = JSON.stringify({ pass: true, note: "Both say so." });
      answer(
        { toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
        { text: "Do take one." },
        { text: judgement },
      );
    },
    after({ made: { report }, output }) {
      assert.match(output.join(""), /^Of 1 run 1 other words\.\n/);
      assert.deepEqual(report.judges.sameAdvice.runs, 1);
    },
  },
  "receipts/receipts.test.ts": { isTest: true },
  "compare/agent.ts": { after: ({ made }) => assert.equal(typeof made.agent.run, "function") },
  "command-line/agent.js": {
    before: ({ answer }) => answer({ text: "Hello." }),
    async after({ made }) {
      assert.equal((await made.default.run("Hello").result).text, "Hello.");
    },
  },
  "compare-1": {
    before: ({ answer }) => answer({ text: '{"rain":true}' }),
    after: ({ made: { report }, output }) => {
      assert.deepEqual(report.runs[0].judges.form, { pass: true });
      assert.match(output.join(""), /^Of 1 run 1 equal\.\n/);
    },
  },
  "send-us-the-run/report.ts": {
    before({ answer }) {
      globalThis.location = new URL("https://page.test/");
      answer({ text: "Your card is 1234 5678.", dropAfterEvents: 4 }, ...Array(9).fill({ status: 400 }));
    },
    async after({ made }) {
      await import("looplet");
      const { expectReplay } = await import("looplet/testing");
      const files = [];
      await made.answer("My card is 1234 5678.", (file) => files.push(file));
      delete globalThis.location;
      assert.equal(files.length, 1);
      assert.match(files[0], /^\{"loop":1,[^]*My card is \*{4} \*{4}\./);
      const { steps, at } = await expectReplay(files[0]);
      assert.equal(at(steps.length - 1).outcome, "failed");
    },
  },
  "send-us-the-run-1": {
    before: ({ answer }) => answer({ text: "Hello you." }, { text: "Hi." }),
    after({ made, output }) {
      assert.equal(output[0], "https://api.anthropic.com/v1/messages 1\n");
      assert.match(output[1], /Hi\./);
      assert.equal(made.asked > 0, true);
    },
  },
  "send-us-the-run/bug.test.ts": {
    isTest: true,
    async before({ looplet: { anthropic, createAgent }, practice: { scripted }, folder }) {
      const { recorder } = await import("looplet/replay");
      await import("looplet");
      const { withExpectations } = await import("looplet/testing");
      const model = anthropic("test", { fetch: scripted([{ text: "Hi" }]) });
      const run = createAgent({ model, record: recorder() }).run("Hello");
      await run.result;
      await writeFile(join(folder, "bug.loop"), await withExpectations(run.export()));
    },
  },
  "testing/prompt.test.ts": { isTest: true },
  "devtools/devtools.ts": {
    mount: 'location.hash === "#devtools" ? import("./devtools") : import("./page");',
    others: { "/api/anthropic": vendor },
    async inPage(page) {
      const devtools = await page.context().newPage();
      await devtools.goto(`${page.url()}#devtools`);
      await devtools.getByText("Attached to checkout worker").waitFor();
      await page.waitForFunction(() => document.body.textContent.trim().length > 10);
      await devtools.getByText("completed").first().waitFor();
    },
  },
  "devtools/files.ts": {
    mount: 'import "./files";',
    others: {
      "/bug.loop": async (_, response) => {
        const { anthropic, createAgent } = await import("looplet");
        const { recorder } = await import("looplet/replay");
        const { scripted } = await import("looplet/practice");
        const model = anthropic("test", { fetch: scripted([{ text: "Hi" }]) });
        const run = createAgent({ model, record: recorder() }).run("Hello");
        await run.result;
        response.end(run.export());
      },
    },
    async inPage(page) {
      await page.getByRole("heading", { name: "bug.loop" }).waitFor();
      await page.getByRole("tab", { name: "Continue" }).click();
      await page.getByLabel("System prompt").waitFor();
    },
  },
  "devtools/server.ts": {
    before: ({ answer }) => answer({ text: "All is done." }),
    async after({ made: { agent, devtools }, output }) {
      const { url } = devtools;
      assert.equal(output.join(""), `looplet devtools: ${url}\n`);
      assert.equal((await agent.run("Hello").result).text, "All is done.");
      const page = await ask(url);
      assert.match(page.text, /<looplet-devtools>/);
      await devtools.close();
    },
  },
  "simulate/pays.test.ts": { isTest: true },
  "simulate-1": {
    after: ({ output }) => assert.equal(output.join(""), "20 \n"),
  },
};
