// looplet/react where the documentation's chat does not go: React 18, and a server that renders the page.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "./docs-examples.mjs";
import { screens } from "./docs-screens.mjs";
import { installPacked, run } from "./install.mjs";
import { visit } from "./page.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const react18 = process.env.LOOPLET_REACT_18;

let installed;
before(async () => {
  installed = await installPacked();
  for (const name of ["react", "react-dom", "scheduler"])
    symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
  mkdirSync(join(installed.folder, "docs/chat"), { recursive: true });
});
after(() => installed?.remove());

const chat = `
import { anthropic, createAgent } from "looplet";
import { useAgent } from "looplet/react";
import { createElement as h } from "react";
const agent = createAgent({ model: anthropic("m", { baseUrl: "/api/anthropic" }) });
export function Chat() {
  const { messages, send, status } = useAgent(agent);
  const texts = messages.map(({ id, parts }) => h("p", { key: id }, parts.map((part) => part.text).join("")));
  const onKeyDown = ({ key, target }) => key === "Enter" && send(target.value);
  return h("div", null, ...texts, h("input", { onKeyDown }), h("output", null, status));
}
`;

const skip = !browserPath ? "no Chromium" : !react18 && "no React 18";

test("a chat runs in React 18, in its StrictMode", { skip }, async () => {
  writeFileSync(join(installed.folder, "docs/chat/chat.js"), chat);
  const mount = `
    import { StrictMode, createElement as h } from "react";
    import * as React from "react";
    import { createRoot } from "react-dom/client";
    import { Chat } from "./chat";
    document.title = React.version;
    createRoot(document.querySelector("main")).render(h(StrictMode, null, h(Chat)));
  `;
  await visit({
    ...screens["react/first.tsx"],
    folder: join(installed.folder, "docs"),
    file: "chat/chat.js",
    mount,
    alias: { "react-dom": join(react18, "react-dom"), react: join(react18, "react") },
    async inPage(page) {
      await page.fill("input", "Hello");
      await page.press("input", "Enter");
      await page.waitForFunction(() => document.body.innerText.includes("You said Hello."));
      await page.waitForFunction(() => document.querySelector("output").innerText === "ready");
      assert.match(await page.title(), /^18\./);
      assert.deepEqual(await page.locator("p").allInnerTexts(), ["Hello", "You said Hello."]);
    },
  });
});

test("a server renders a chat that has not been opened", async () => {
  const script = `${chat}
    import { renderToString } from "react-dom/server";
    console.log(renderToString(h(Chat)));
  `;
  writeFileSync(join(installed.folder, "server.mjs"), script);
  const html = await run(process.execPath, ["server.mjs"], installed.folder);
  assert.match(html, /^<div><input\/><output>opening<\/output><\/div>$/m);
});
