// Front ends that speak AG-UI, in Chromium, on an agent in the page: a tool of the agent, and one of the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { chromiumArgs } from "../../../scripts/lib/browser.mjs";
import { installPacked, run } from "../install.mjs";

const { LOOPLET_CHROMIUM, LOOPLET_COPILOTKIT, LOOPLET_ASSISTANT_UI, LOOPLET_ASSISTANT_UI_AG_UI } =
  process.env;

const shared = `
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { HttpAgent } from "@ag-ui/client";
import { anthropic, createAgent, tool } from "looplet";
import { agUiAgent } from "looplet/ag-ui";
import { scripted } from "looplet/practice";
const fetch = scripted([
  { text: "Let me see.", toolCalls: [{ name: "weather", input: {} }] },
  { toolCalls: [{ name: "color", input: { color: "rgb(255, 0, 0)" } }] },
  { text: "It is 7 degrees, and the page is red." },
  { toolCalls: [{ id: "toolu_1", name: "mail", input: { to: "ada" } }, { id: "toolu_2", name: "mail", input: { to: "eve" } }] },
  { text: "I wrote to one of them." },
]);
window.sent = [];
const weather = tool({ description: "The weather", inputSchema: { type: "object" }, execute: () => "7 degrees" });
const mail = tool({
  description: "Sends a mail", inputSchema: { type: "object" }, needsApproval: true,
  execute: ({ to }) => (window.sent.push(to), "sent"),
});
const config = { agentId: "default", threadId: "t" };
const agent = agUiAgent(createAgent({ model: anthropic("m", { fetch }), tools: { weather, mail } }), { HttpAgent, config });
const execute = async ({ color }) => ((document.body.style.background = color), "it is red");
const show = (Page) => createRoot(document.querySelector("main")).render(h(Page));
`;

const pages = {
  CopilotKit: {
    packages: [`@copilotkit/react-core@${LOOPLET_COPILOTKIT}`, "zod@4"],
    script: `${shared}
import { CopilotChat, CopilotKitProvider, useFrontendTool, useInterrupt } from "@copilotkit/react-core/v2";
import { z } from "zod";
const parameters = z.object({ color: z.string() });
function Chat() {
  useFrontendTool({ name: "color", description: "Colours the page", parameters, handler: execute });
  const render = ({ interrupts: [first, ...rest], resolve, cancel }) => {
    const answer = () => (void resolve({ approved: true }, first.id), rest.forEach(({ id }) => void cancel(id)));
    return h("button", { onClick: answer }, "Approve the first");
  };
  useInterrupt({ render });
  return h(CopilotChat, config);
}
show(() => h(CopilotKitProvider, { agents__unsafe_dev_only: { default: agent } }, h(Chat)));
`,
  },
  "assistant-ui": {
    packages: [
      `@assistant-ui/react-ag-ui@${LOOPLET_ASSISTANT_UI_AG_UI}`,
      `@assistant-ui/react@${LOOPLET_ASSISTANT_UI}`,
    ],
    script: `${shared}
import {
  AssistantRuntimeProvider, ComposerPrimitive, makeAssistantTool, MessagePrimitive, ThreadPrimitive,
} from "@assistant-ui/react";
import { useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } from "@assistant-ui/react-ag-ui";
const parameters = { type: "object", properties: { color: { type: "string" } } };
const Color = makeAssistantTool({
  toolName: "color", type: "frontend", description: "Colours the page", parameters, execute,
});
const Message = () => h(MessagePrimitive.Root, null, h(MessagePrimitive.Content));
function Asked() {
  const submit = useAgUiSubmitInterruptResponses();
  const [first, ...rest] = useAgUiInterrupts();
  if (first === undefined) return null;
  const answers = [
    { interruptId: first.id, status: "resolved", payload: { approved: true } },
    ...rest.map(({ id }) => ({ interruptId: id, status: "cancelled" })),
  ];
  return h("button", { onClick: () => submit(answers) }, "Approve the first");
}
show(() =>
  h(AssistantRuntimeProvider, { runtime: useAgUiRuntime({ agent }) }, h(Color), h(Asked),
    h(ThreadPrimitive.Root, null,
      h(ThreadPrimitive.Messages, { components: { UserMessage: Message, AssistantMessage: Message } }),
      h(ComposerPrimitive.Root, null, h(ComposerPrimitive.Input)))));
`,
  },
};

for (const [name, { packages, script }] of Object.entries(pages))
  describe(name, () => {
    let installed, server, browser;
    before(async () => {
      installed = await installPacked();
      const { folder } = installed;
      const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
      await run("npm", ["install", ...quiet, "react@19", "react-dom@19", ...packages], folder, 600_000);
      writeFileSync(join(folder, "page.js"), script);
      await build({
        entryPoints: [join(folder, "page.js")],
        outfile: join(folder, "built.js"),
        bundle: true,
        format: "esm",
        minify: true,
        define: { "process.env.NODE_ENV": '"production"' },
        loader: { ".css": "empty", ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
        logLevel: "error",
      });
      const html = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><main></main>';
      server = createServer((request, response) => {
        const isScript = request.url === "/built.js";
        response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
        response.end(
          isScript
            ? readFileSync(join(folder, "built.js"))
            : `${html}<script type="module" src="/built.js"></script>`,
        );
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      browser = await chromium.launch({ executablePath: LOOPLET_CHROMIUM, args: chromiumArgs });
    });
    after(async () => {
      await browser?.close();
      server?.close();
      installed?.remove();
    });

    test("shows the answer, runs the tool of the page, and asks for approvals", async () => {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      await page.locator("textarea").first().fill("What is the weather? And make it red.");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.body.innerText.includes("the page is red"));
      const { text, background } = await page.evaluate(() => ({
        text: document.body.innerText,
        background: document.body.style.background,
      }));
      assert.match(text, /Let me see\.[^]*It is 7 degrees/);
      assert.equal(background, "rgb(255, 0, 0)");

      // Two approvals at once: one is given, and one is not.
      await page.locator("textarea").first().fill("Write to Ada and to Eve.");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Approve the first" }).click();
      await page.waitForFunction(() => document.body.innerText.includes("I wrote to one of them."));
      assert.deepEqual(await page.evaluate(() => window.sent), ["ada"]);
    });
  });
