// The examples of docs/tasks/react.md and user-interfaces.md, as a person uses them.
import assert from "node:assert/strict";
import { personsPath, shop } from "./chat-path.mjs";

/** The script that puts a component on its page. */
export const mounted = (module, name) => `
  import { StrictMode } from "react";
  import { createRoot } from "react-dom/client";
  import { ${name} } from "./${module}";
  const root = document.createElement("div");
  document.querySelector("main").replaceWith(root);
  createRoot(root).render(<StrictMode><${name} /></StrictMode>);
`;

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
    others: shop().others,
    inPage: says,
  },
  "user-interfaces/vue.ts": {
    mount: around(`
      import { createApp, h } from "vue";
      import { useSnapshot } from "./vue";
      createApp({ setup: () => { const snapshot = useSnapshot(chat); return () => h("pre", textOf(snapshot.value)); } }).mount(main);
    `),
    others: shop().others,
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
    others: shop().others,
    inPage: says,
  },
  "user-interfaces/solid.ts": {
    mount: around(`
      import { createEffect, createRoot } from "solid-js";
      import { createSnapshot } from "./solid";
      createRoot(() => { const snapshot = createSnapshot(chat); createEffect(() => (main.innerText = textOf(snapshot()))); });
    `),
    others: shop().others,
    inPage: says,
  },
  "user-interfaces/settings.ts": {
    mount: around(`
      import { choose } from "./settings";
      chat.subscribe(() => (main.innerText = textOf(chat.getSnapshot())));
      choose(chat, "other");
    `),
    others: shop().others,
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
    others: shop().others,
    async inPage(page) {
      await page.fill("[aria-label=Message]", "Hello");
      await page.click("text=Send");
      await page.waitForFunction(() => document.body.innerText.includes("You said Hello."));
    },
  },
  "react/chat.tsx": {
    mount: mounted("chat", "Chat"),
    others: shop().others,
    inPage: personsPath,
  },
};
