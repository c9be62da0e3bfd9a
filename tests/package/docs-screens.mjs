// The examples of docs/tasks/react.md and user-interfaces.md, as a person uses them.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { vendorThat } from "./docs-vendor.mjs";

/** A vendor that does what the prompt says: orders, lists, waits, refuses, or says what it was told. */
const shop = vendorThat(({ scripted }, body) => scripted([turnFor(JSON.parse(body).messages)]));

let refusals = 0;

function turnFor(messages) {
  const { content } = messages.at(-1);
  if (content[0].type === "tool_result") return { text: `Done: ${JSON.stringify(content[0].content)}` };
  const said = content.map(({ type, text }) => text ?? type).join(" ");
  const call = (name, input) => ({ toolCalls: [{ id: `toolu_${messages.length}`, name, input }] });
  if (said.includes("order")) return call("order", { title: "Emma" });
  if (said.includes("stock")) return call("stock", {});
  if (said.includes("wait")) return { text: ["Half", " of", " it"], stall: 4 };
  if (said.includes("fail") && refusals++ % 2 === 0) return { status: 400 };
  return { text: ["You said ", said, "."] };
}

const mounted = (module, name) => `
  import { StrictMode } from "react";
  import { createRoot } from "react-dom/client";
  import { ${name} } from "./${module}";
  const root = document.createElement("div");
  document.querySelector("main").replaceWith(root);
  createRoot(root).render(<StrictMode><${name} /></StrictMode>);
`;

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Sends a message on a page with a field `input`, and waits for the answer. */
const says = async (page) => {
  await page.fill("input", "Hello");
  await page.press("input", "Enter");
  await page.waitForFunction(() => document.body.innerText.includes("You said Hello."));
};

/** A script with the conversation of the page, and a field that sends to it. */
const around = (script) => `
  import { anthropic, createAgent } from "looplet";
  import { conversation } from "looplet/ui";
  const model = anthropic("m", { baseUrl: "/api/anthropic" });
  const chat = conversation(createAgent({ model }));
  const input = document.body.appendChild(document.createElement("input"));
  input.onkeydown = ({ key }) => key === "Enter" && chat.send(input.value);
  const main = document.querySelector("main");
  const textOf = ({ messages }) =>
    messages.flatMap(({ parts }) => parts.map((part) => part.text)).join(" | ");
  ${script}
`;

export const screens = {
  "user-interfaces/plain.ts": {
    mount: `
      import { show } from "./plain";
      const { send } = show(document.querySelector("main"));
      const input = document.body.appendChild(document.createElement("input"));
      input.onkeydown = ({ key }) => key === "Enter" && send(input.value);
    `,
    others: { "/api/anthropic": shop },
    inPage: says,
  },
  "user-interfaces/vue.ts": {
    mount: around(`
      import { createApp, h } from "vue";
      import { useSnapshot } from "./vue";
      createApp({ setup: () => { const snapshot = useSnapshot(chat); return () => h("pre", textOf(snapshot.value)); } }).mount(main);
    `),
    others: { "/api/anthropic": shop },
    inPage: says,
  },
  "user-interfaces/svelte.ts": {
    mount: around(`
      import { mount } from "svelte";
      import { snapshotOf } from "./svelte";
      import Shown from "./shown.svelte.js";
      mount(Shown, { target: main, props: { snapshot: snapshotOf(chat), textOf } });
    `),
    files: {
      // As the compiler of the page's bundler would.
      "shown.svelte.js": async () => {
        const { compile } = await import("svelte/compiler");
        const source = "<script>let { snapshot, textOf } = $props();</script><pre>{textOf($snapshot)}</pre>";
        return compile(source, { generate: "client" }).js.code;
      },
    },
    others: { "/api/anthropic": shop },
    inPage: says,
  },
  "user-interfaces/solid.ts": {
    mount: around(`
      import { createEffect, createRoot } from "solid-js";
      import { createSnapshot } from "./solid";
      createRoot(() => { const snapshot = createSnapshot(chat); createEffect(() => (main.innerText = textOf(snapshot()))); });
    `),
    others: { "/api/anthropic": shop },
    inPage: says,
  },
  "user-interfaces/reduce.ts": {
    async after({ made, looplet: { anthropic, createAgent }, practice: { scripted } }) {
      const agent = createAgent({ model: anthropic("m", { fetch: scripted([{ text: ["One ", "two."] }]) }) });
      let last;
      await made.ask(agent, "Count", (view) => (last = view));
      assert.deepEqual(
        last.messages.map(({ parts }) => parts[0].text),
        ["Count", "One two."],
      );
    },
  },
  "react/first.tsx": {
    mount: mounted("first", "First"),
    others: { "/api/anthropic": shop },
    async inPage(page) {
      await page.fill("[aria-label=Message]", "Hello");
      await page.click("text=Send");
      await page.waitForFunction(() => document.body.innerText.includes("You said Hello."));
    },
  },
  "react/chat.tsx": {
    mount: mounted("chat", "Chat"),
    others: { "/api/anthropic": shop },
    async inPage(page) {
      const send = async (text) => {
        await page.fill("[aria-label=Message]", text);
        await page.press("[aria-label=Message]", "Enter");
      };
      const told = (text) =>
        page.waitForFunction((text) => document.querySelector("main").innerText.includes(text), text);
      const articles = () => page.locator("article").allInnerTexts();
      const isIdle = () => page.locator("text=Stop").waitFor({ state: "detached" });

      await send("What is in stock?");
      await told("Done: ");
      await isIdle();

      // An approval that outlives a reload, and is given by the keyboard.
      await send("Please order it");
      await page.getByRole("group", { name: "Approval" }).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Allow" }).press("Enter");
      await told('order {"title":"Emma"}: output-available "Ordered Emma."');
      await isIdle();
      await send("Please order another");
      await page.getByRole("button", { name: "Deny" }).click();
      await told("output-denied");
      await isIdle();

      // Stop in the middle, and go on.
      await send("Now wait");
      await told("Half");
      await page.click("text=Stop");
      await isIdle();
      await send("Hello");
      await told("You said Hello.");
      await isIdle();

      // Another text for a message, and back to the first one.
      const count = (await articles()).length;
      page.once("dialog", (dialog) => dialog.accept("Good day"));
      await page.locator("article[aria-label=user]").last().getByText("Edit").click();
      await told("You said Good day.");
      await isIdle();
      assert.equal((await articles()).length, count);
      await page.click("text=Version 2 of 2");
      await told("You said Hello.");
      await page.reload();
      await told("You said Hello.");
      await page.getByText("Version 1 of 2").waitFor();

      // A failure, and another try.
      await send("Do fail");
      await page.getByRole("alert").waitFor();
      await page.click("text=Retry");
      await told("You said Do fail.");
      await isIdle();

      await page.setInputFiles("[aria-label=Images]", {
        name: "dot.png",
        mimeType: "image/png",
        buffer: PNG,
      });
      await send("Look");
      await told("You said image Look.");
      await isIdle();
      assert.equal(await page.locator("img[alt='dot.png']").count(), 1);

      // A person who hears the page.
      await page.addScriptTag({ path: fileURLToPath(import.meta.resolve("axe-core/axe.min.js")) });
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }),
      );
      assert.deepEqual(
        violations.map(({ id, help }) => `${id}: ${help}`),
        [],
      );

      // Two conversations.
      await page.getByRole("button", { name: "New" }).click();
      await page.waitForFunction(() => document.querySelectorAll("article").length === 0);
      await send("Something else");
      await told("You said Something else.");
      await isIdle();
      await page.getByRole("button", { name: "What is in stock?" }).click();
      await told("You said image Look.");
    },
  },
};
