// The chat of docs/tasks/react.md in Chromium, loaded again at the worst moments: while an approval, the form of a
// tool, a subagent's approval or the question about an interrupted call is open, and right after each answer.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { examples, root } from "./docs-examples.mjs";
import { mounted } from "./docs-screens.mjs";
import { installPacked } from "./install.mjs";
import { visit } from "./page.mjs";

const skip = !process.env.LOOPLET_CHROMIUM && "no Chromium";

let installed;
before(async () => {
  installed = skip ? undefined : await installPacked();
  for (const name of skip ? [] : ["react", "react-dom", "scheduler"])
    symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
});
after(() => installed?.remove());

/** Each tool notes in the browser what it has done. `charge` comes to no end in the page that begins it. */
const agent = `
  import { createAgent, custom, subagent, tool } from "looplet";
  import { indexedDbStore } from "looplet/stores";
  export const store = indexedDbStore();
  const note = (name) => localStorage.setItem("done", (localStorage.getItem("done") ?? "") + name + " ");
  const acts = (name, more, execute = () => name + " is done") =>
    tool({ description: name, inputSchema: { type: "object" }, ...more, execute: (...given) => (note(name), execute(...given)) });
  const form = tool({
    description: "form",
    inputSchema: { type: "object" },
    replay: "safe",
    execute: async (_, { elicit }) => {
      const requestedSchema = { type: "object", properties: { count: { type: "number" } } };
      const { content } = await elicit({ message: "How many?", requestedSchema });
      note("form");
      return "count " + content.count;
    },
  });
  const tools = {
    stock: acts("stock", { readOnly: true, replay: "safe" }),
    order: acts("order", { needsApproval: true, replay: "once" }),
    form,
    helper: subagent({
      description: "helps",
      tools: { dig: acts("dig", { readOnly: true, replay: "safe" }), pay: acts("pay", { needsApproval: true, replay: "once" }) },
    }),
    charge: acts("charge", { replay: "once" }, () => new Promise(() => {})),
  };
  const call = (name, input = {}) => ({ type: "tool_call", id: name + "_1", name, input });
  const ROUNDS = [[call("stock"), call("order")], [call("form")], [call("helper", { prompt: "Dig." })], [call("charge")]];
  async function* answer({ messages }) {
    const rounds = messages.filter(({ role }) => role === "assistant").length;
    const isHelper = JSON.stringify(messages[0]).includes("Dig.");
    yield isHelper ? "Digging " + rounds + "." : "Step " + rounds + ".";
    yield* (isHelper ? [[call("dig"), call("pay")]] : ROUNDS)[rounds] ?? [];
  }
  export const agent = createAgent({ model: custom(answer), tools, store });
  /** Resolves when the store has the run: one that nothing was saved of is not there after a reload. */
  globalThis.stored = async () => {
    while (!(await agent.readChat(location.hash.slice(1)))?.isRunning) await new Promise(requestAnimationFrame);
  };
`;

test("the printed chat answers each question after a reload, and does nothing twice", { skip }, () => {
  const folder = join(installed.folder, "docs");
  mkdirSync(join(folder, "reloads"), { recursive: true });
  writeFileSync(join(folder, "reloads/agent.ts"), agent);
  const { code } = examples.find(({ name }) => name === "react/chat.tsx");
  writeFileSync(join(folder, "reloads/chat.tsx"), code);
  const mount = mounted("chat", "Chat");
  return visit({ folder, file: "reloads/chat.tsx", mount, inPage: goThrough });
});

async function goThrough(page) {
  const button = (name) => page.getByRole("button", { name, exact: true });
  const said = (text) => page.getByRole("main").last().getByText(text).first().waitFor();
  const calls = (name) => page.getByText(new RegExp(`^${name} \\{`)).count();
  /** Reloads while it is open, answers, and reloads again behind the answer. One that was not saved is asked for again. */
  const answered = async (question, answer, next) => {
    for (let reloads = 0; reloads < 2; reloads++) {
      await question.waitFor();
      await page.evaluate(() => globalThis.stored());
      await page.reload();
    }
    await question.waitFor();
    assert.equal(await question.count(), 1);
    await answer();
    await page.reload();
    const isHere = (locator) => locator.first().isVisible();
    for (;;) {
      await question.or(next).or(lost).first().waitFor();
      if (await isHere(next)) return;
      // The reload has cut off the call, and the user knows whether it was done.
      if (await isHere(lost)) {
        const name = /^\w+/.exec(await lost.innerText())[0];
        const isDone = (await page.evaluate(() => localStorage.getItem("done"))).includes(name);
        await button(isDone ? "Yes" : "No, do it")
          .click(soon)
          .catch(() => {});
        await lost.waitFor({ state: "detached" });
      } else await answer().catch(() => {}); // It closes when the stored answer is read.
    }
  };
  const soon = { timeout: 1000 };
  const approval = (name) => page.getByRole("group", { name: "Approval" }).filter({ hasText: name });
  const allow = () => button("Allow").click(soon);
  const form = page.getByRole("form", { name: "Question" });
  const asksWhether = page.getByRole("group", { name: "Was it done?" });
  const interrupted = asksWhether.filter({ hasText: "charge" });
  const lost = asksWhether.filter({ hasNotText: "charge" });

  await page.getByRole("textbox", { name: "Message" }).fill("Go.");
  await button("Send").click();
  await answered(approval("order"), allow, form);
  await said("order {}: output-available");
  await said('stock {}: output-available "stock is done"');
  const fill = async () => {
    await form.getByLabel("count").fill("2", soon);
    await form.getByRole("button", { name: "Send" }).click(soon);
  };
  await answered(form, fill, approval("pay"));
  await said('"count 2"');
  await said('dig {}: output-available "dig is done"');
  await answered(approval("pay"), allow, page.getByText(/^charge \{/));
  await page.waitForFunction(() => localStorage.getItem("done").includes("charge"));
  await page.reload();
  await answered(interrupted, () => button("Yes").click(soon), page.getByText("Step 4."));
  await said("Step 4.");
  for (const name of ["stock", "order", "form", "helper", "dig", "pay", "charge"])
    assert.equal(await calls(name), 1, `${name} is drawn once`);
  assert.equal(await page.getByText(/input-available|approval-requested/).count(), 0);
  const done = (await page.evaluate(() => localStorage.getItem("done"))).trim().split(" ");
  for (const name of ["order", "pay", "charge"])
    assert.equal(done.filter((one) => one === name).length, 1, `${name} of ${done.join(" ")}`);
}
