// <looplet-devtools> as a person uses it: runs of another tab, and files. docs/tasks/devtools.md has the story.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { hostileFiles } from "../typescript/support/hostile-files.ts";
import { installPacked } from "./install.mjs";
import { visit } from "./page.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const skip = !browserPath && "no Chromium";

let installed;
before(async () => (installed = skip ? undefined : await installPacked()));
after(() => installed?.remove());

/** The tab with the agent. `window.ask(prompt)` runs it, and `window.allow()` answers its question. */
const agentTab = `
import { anthropic, createAgent, tool } from "looplet";
import { publish } from "looplet/devtools/publish";
import { scripted } from "looplet/practice";
const devtools = publish(new BroadcastChannel("looplet"), { name: "the shop" });
const acts = (description, output, more) => tool({
  description,
  inputSchema: { type: "object", properties: { id: { type: "number" } } },
  execute: ({ id }) => (window.done.push(description + " " + id), output),
  ...more,
});
window.done = [];
export const shop = createAgent({
  model: anthropic("claude-sonnet-4-6", { apiKey: "sk-0123456789abcdef" }),
  system: "You help customers.",
  tools: {
    order: acts("looks up", { id: 4711, sum: 20 }, { readOnly: true }),
    refund: acts("refunds", "Refunded", { needsApproval: true }),
    ask: acts("asks", "", { readOnly: true, execute: async (_, { elicit }) => elicit(window.form) }),
  },
  record: devtools.record,
  fetch: (url, init) => window.answers(url, init),
});
devtools.offer({ shop });
const script = () => scripted([
  { text: "Let me look.", toolCalls: [{ id: "a", name: "order", input: { id: 4711 } }] },
  { toolCalls: [{ id: "b", name: "refund", input: { id: 4711 } }] },
  { text: "20 dollars are on their way." },
]);
window.answers = script();
window.answerNow = (text) => (window.answers = scripted([{ text }]));
window.ask = (prompt) => {
  window.answers = script();
  window.run = shop.run(prompt, { onEvent: (event) => { if (event.type === "question") window.asked = event.questionId; } });
};
window.askForm = () => {
  window.answers = scripted([{ toolCalls: [{ id: "c", name: "ask", input: {} }] }, { text: "A table outside." }]);
  window.run = shop.run("A table.");
};
window.changing = async () => {
  const call = { toolCalls: [{ name: "order", input: { id: 4711 } }] };
  const { order } = { order: acts("looks up", "shoes ".repeat(200), { readOnly: true }) };
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "k", fetch: scripted([call, call, call, { text: "Done." }]) }),
    system: "You help customers.",
    tools: { order },
    record: devtools.record,
    prepareIteration: ({ iteration }) => (iteration === 3 ? { system: "Come to an end." } : undefined),
  });
  await agent.run("Compare the orders.").result;
};
window.allow = () => window.run.answer(window.asked, { behavior: "allow" });
`;

const devtoolsTab = `
import "looplet";
import "looplet/devtools";
document.body.style.margin = "0";
document.body.innerHTML = '<looplet-devtools channel="looplet" style="height: 100vh"></looplet-devtools>';
window.devtools = document.querySelector("looplet-devtools");
`;

/** A page that is the tab of devtools, or with "#agent" that of the agent. */
function path(name, inPage) {
  const folder = join(installed.folder, "docs");
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "agent-tab.js"), agentTab);
  writeFileSync(join(folder, name, "devtools-tab.js"), devtoolsTab);
  const mount = `location.hash === "#agent" ? import("./agent-tab.js") : import("./devtools-tab.js");`;
  return visit({ folder, file: `${name}/agent-tab.js`, mount, inPage });
}

async function agentPage(page) {
  const agent = await page.context().newPage();
  await agent.goto(`${page.url()}#agent`);
  await agent.waitForFunction(() => window.ask !== undefined);
  // A tab in the background draws about once a second.
  await page.bringToFront();
  return agent;
}

const tab = (page, name) => page.getByRole("tab", { name, exact: true });
const open = (page) => page.waitForFunction(() => window.devtools !== undefined);

test("shows a run of another tab while it goes on, and lets it go on otherwise", { skip }, () =>
  path("live", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await page.getByText("Attached to the shop").waitFor();
    await agent.evaluate(() => window.ask("Refund the order 4711."));
    // The run waits for the approval, and devtools show what waits.
    await page.getByText("A question waits: permission of refund").waitFor();
    await page.getByText("Let me look.").waitFor();
    await agent.evaluate(() => window.allow());
    await page.getByText("20 dollars are on their way.").waitFor();
    assert.deepEqual(await agent.evaluate(() => window.done), ["looks up 4711", "refunds 4711"]);

    // The result of the first tool becomes another one, and the run goes on from there with another prompt.
    await page.getByRole("option", { name: /Tool finishes.*result of order/ }).click();
    await tab(page, "Continue").click();
    await agent.evaluate(() => window.answerNow("The order was paid back already."));
    const result = page.getByLabel("Tool finishes, changed for the fork");
    await result.fill((await result.inputValue()).replace("20", "0"));
    await page.getByLabel("System prompt").fill("You are strict.");
    await page.getByRole("button", { name: "Continue from here" }).click();
    await page.getByText(/forked at step/).waitFor();
    await tab(page, "State").click();
    await page.getByText("The order was paid back already.").waitFor();
    // Nothing was done again.
    assert.equal((await agent.evaluate(() => window.done)).length, 2);

    // The tool runs once more, with the code that the agent has now.
    await page
      .getByRole("button", { name: /^Refund the order 4711\..*completed/s })
      .first()
      .click();
    await page.getByRole("option", { name: /Tool finishes.*result of order/ }).click();
    await tab(page, "Continue").click();
    await agent.evaluate(() => window.answerNow("It was looked up again."));
    await page.getByRole("button", { name: "Try order again" }).click();
    await tab(page, "State").click();
    await page.getByText("It was looked up again.").waitFor();
    assert.deepEqual((await agent.evaluate(() => window.done)).slice(2), ["looks up 4711"]);
    await page
      .getByRole("button", { name: /forked at step/ })
      .first()
      .click();

    // Both stand side by side, and their first difference is the result.
    await page.getByRole("button", { name: "Beside" }).first().click();
    await page.getByText(/2 messages equal. Message 3 differs./).waitFor();
    const parted = await page.getByRole("region", { name: "Side by side" }).innerText();
    assert.match(parted, /- .*"sum\\?":20/);
    assert.match(parted, /\+ .*"sum\\?":0/);
  }),
);

test(
  "answers the questions of a run of another tab: an approval with another input, and a form",
  { skip },
  () =>
    path("answers", async (page) => {
      await open(page);
      const agent = await agentPage(page);
      await agent.evaluate(() => window.ask("Refund the order 4711."));
      await page.getByText("A question waits: permission of refund").waitFor();
      await page.getByText("Another answer").click();
      const answer = page.getByLabel("Answer, as JSON");
      const send = page.getByRole("button", { name: "Send this answer" });
      const first = await answer.inputValue();
      await answer.fill("{");
      await send.click();
      await page.getByText("The answer is not valid JSON").waitFor();
      await answer.fill(first.replace("4711", "4712"));
      await send.click();
      await page.getByText("20 dollars are on their way.").waitFor();
      assert.deepEqual(await agent.evaluate(() => window.done), ["looks up 4711", "refunds 4712"]);

      await agent.evaluate(() => {
        const place = { type: "string", enum: ["inside", "outside"] };
        window.form = { message: "Where?", requestedSchema: { type: "object", properties: { place } } };
        window.askForm();
      });
      await page.getByRole("button", { name: /^A table\./ }).click();
      await page.getByText("Where?").waitFor();
      assert.deepEqual(JSON.parse(await answer.inputValue()), {
        action: "accept",
        content: { place: "inside" },
      });
      await answer.fill('{ "action": "accept", "content": { "place": "outside" } }');
      await send.click();
      await page.getByText("A table outside.").waitFor();
      assert.match(
        await agent.evaluate(async () => JSON.stringify((await window.run.result).messages)),
        /outside/,
      );
    }),
);

test("shows what each request shares with the one before, and what broke a prefix", { skip }, () =>
  path("prefixes", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await agent.evaluate(() => window.changing());
    await tab(page, "Prefix").click();
    await page
      .getByText(/^2 requests break their prefix: about [\d,]+ tokens were not shared there\.$/)
      .waitFor();
    const rows = page.getByRole("list", { name: "What requests share" }).getByRole("listitem");
    const told = await rows.evaluateAll((items) =>
      items.map((item) => ({
        text: item.innerText
          .replace(/[\d,]+(?= (tokens|new|not))/g, "N")
          .split("\n")
          .filter(Boolean),
        parts: [...item.querySelectorAll(".share > *")].map((part) => [
          part.className,
          part.getBoundingClientRect().width > 0,
        ]),
      })),
    );
    const whole = {
      text: ["N tokens shared, N new"],
      parts: [
        ["shared", true],
        ["new", true],
      ],
    };
    const broken = {
      text: ["N tokens shared, N not shared", "The system prompt changed: prepareIteration."],
      parts: [
        ["shared", true],
        ["lost", true],
      ],
    };
    const expected = [{ text: ["not compared"], parts: [] }, whole, broken, broken];
    assert.deepEqual(
      told,
      expected.map(({ text, parts }, at) => ({ text: [`Request ${at + 1}`, ...text], parts })),
    );
    // A request leads to its step.
    await page.getByRole("button", { name: "Request 2", exact: true }).click();
    await page.locator("looplet-devtools .row.is-here", { hasText: "request" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Request 2" }).getAttribute("aria-current"), "true");
  }),
);

test("says why a run does not go on", { skip }, () =>
  path("problems", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await agent.evaluate(() => window.ask("Hello"));
    await page.getByText("A question waits: permission of refund").waitFor();
    await tab(page, "Continue").click();
    const goOn = page.getByRole("button", { name: "Continue from here" });
    await page.getByLabel("Other options of the agent, as JSON").fill("{");
    await goOn.click();
    await page.getByText(/The options are not valid JSON/).waitFor();
    await page.getByLabel("Other options of the agent, as JSON").fill('{ "maxIterations": 5 }');
    await goOn.click();
    await page
      .getByText(/limits: \{ maxIterations \}|maxIterations/)
      .first()
      .waitFor();
    await page.evaluate(() => window.devtools.open("<img src=x onerror=alert(1)>.loop", "<b>no file</b>"));
    await page.getByText("<img src=x onerror=alert(1)>.loop cannot be opened.").waitFor();
  }),
);

test("opens a file, searches it, and makes a test of it", { skip }, () =>
  path("files", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await agent.evaluate(() => window.ask("Refund the order 4711."));
    await agent.waitForFunction(() => window.asked !== undefined);
    await agent.evaluate(() => window.allow());
    await agent.evaluate(() => window.run.result.then(() => {}));
    const text = await agent.evaluate(() => window.run.export());
    await agent.close();
    await page.evaluate((file) => window.devtools.open("refund.loop", file), text);
    await page.getByRole("heading", { name: "refund.loop" }).waitFor();

    await page.getByRole("searchbox").fill("on their way");
    await page
      .getByText(/^[1-9] steps?$/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Next match" }).click();
    await page.locator("looplet-devtools .row.is-here.is-found").waitFor();

    // Keys: to the first step and on, then the request that follows.
    await page.getByRole("listbox").press("Home");
    await page.getByText(/^Step 1 of/).waitFor();
    await page.getByRole("listbox").press("ArrowDown");
    await tab(page, "State").press("ArrowRight");
    await tab(page, "Step").press("ArrowRight");
    await page.getByText(/"role": "assistant"/).waitFor();

    const downloaded = async (button) => {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name: button, exact: true }).click();
      const download = await coming;
      return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
    };
    await page.getByRole("button", { name: "Save…" }).click();
    await page.getByLabel("Hide these texts (one per line)").fill("dollars");
    const [name, saved] = await downloaded("Save");
    assert.equal(name, "refund.loop");
    assert.doesNotMatch(saved, /dollars/);
    assert.match(saved, /20 \*{7} are on their way/);
    await page.getByRole("button", { name: "Create a test…" }).click();
    await page.getByText('from "vitest"').waitFor();
    await page.getByRole("combobox", { name: "Runner" }).selectOption("node");
    await page.getByText('from "node:test"').waitFor();
  }),
);

test("shows an error and nothing else for files of strangers", { skip }, () =>
  path("hostile", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await agent.evaluate(() => window.ask("Refund the order 4711."));
    await agent.waitForFunction(() => window.asked !== undefined);
    const text = await agent.evaluate(() => window.run.export());
    await agent.close();
    page.on("dialog", () => assert.fail("a file has opened a dialog"));
    const root = page.locator("looplet-devtools");
    for (const hostile of hostileFiles(text)) {
      await page.evaluate(({ name, text }) => window.devtools.open(name, text), hostile);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
      const isRefused = await root.locator(".app > .problem, .pane > .problem").count();
      if (hostile.fate === "refused") assert.ok(isRefused > 0, `${hostile.name} is refused`);
      // A run that one of them shows is closed, so that the next one shows itself.
      await root.evaluate(async ({ shadowRoot }) => {
        for (const button of shadowRoot.querySelectorAll('.branch [aria-label^="Close"]')) button.click();
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
      });
    }
    const left = await page.evaluate(() => [
      {}.polluted,
      document.title,
      window.devtools.shadowRoot.querySelectorAll("img, script, iframe").length,
    ]);
    assert.deepEqual(left, [undefined, "Chat", 0]);
  }),
);

test("can be read and used at three widths, in light and dark", { skip }, () =>
  path("look", async (page) => {
    await open(page);
    const agent = await agentPage(page);
    await agent.evaluate(() => window.ask("Refund the order 4711."));
    await page.getByText("A question waits: permission of refund").waitFor();
    await page.evaluate(axe.source);
    for (const [width, colorScheme] of [
      [390, "light"],
      [390, "dark"],
      [820, "light"],
      [1280, "dark"],
    ]) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(isWide, false);
      for (const name of ["Step", "Next request", "Prefix", "Continue", "State"]) {
        await tab(page, name).click();
        const { violations } = await page.evaluate(() => window.axe.run(document.body));
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
        assert.deepEqual(told, [], `${name} at ${width} in ${colorScheme}`);
      }
    }
  }),
);
