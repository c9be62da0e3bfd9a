// An app of Next on the packed package: a page whose agent runs in the browser, a route handler, and a route on the
// edge.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { chromiumArgs } from "../../../scripts/lib/browser.mjs";
import { installPacked, run } from "../install.mjs";
import { watchEngine } from "../page.mjs";
import { startServer } from "./server.mjs";

const { LOOPLET_CHROMIUM, LOOPLET_NEXT } = process.env;
process.env.NEXT_TELEMETRY_DISABLED = "1";

const agent = `
import { anthropic, createAgent } from "looplet";
import { practice } from "looplet/practice";
const agent = createAgent({ model: anthropic("practice", { fetch: practice({ delayMs: 0 }) }) });
`;

const route = `${agent}
export async function POST(request) {
  const { outcome, text } = await agent.run(await request.text(), { signal: request.signal }).result;
  return Response.json({ outcome, text, on: globalThis.EdgeRuntime ?? "node" });
}
`;

const files = {
  "app/layout.js": `export default function Layout({ children }) {
  return <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;
}
`,
  "app/page.js": `"use client";
import { useState } from "react";
${agent}
export default function Page() {
  const [said, setSaid] = useState("");
  const ask = async () => {
    const { outcome, text } = await agent.run("What is 19 * 23?").result;
    setSaid(\`\${outcome}: \${text}\`);
  };
  return <main><button onClick={ask}>Ask</button><p>{said}</p></main>;
}
`,
  "app/api/ask/route.js": route,
};
const edge = { "app/api/edge/route.js": `export const runtime = "edge";\n${route}` };

// Next 16 with webpack fails at every route on the edge.
for (const [bundler, others] of [
  ["turbopack", edge],
  ["webpack", {}],
])
  describe(`an app of Next, built by ${bundler}`, () => {
    let installed, server;
    before(async () => {
      installed = await installPacked();
      const { folder } = installed;
      const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
      await run("npm", ["install", ...quiet, `next@${LOOPLET_NEXT}`], folder, 300_000);
      for (const [name, text] of Object.entries({ ...files, ...others })) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      const next = join(folder, "node_modules/next/dist/bin/next");
      await run(process.execPath, [next, "build", `--${bundler}`], folder, 600_000);
      server = await startServer(
        folder,
        next,
        (port) => ["start", "-H", "127.0.0.1", "-p", `${port}`],
        /Ready/,
      );
    });
    after(() => {
      server?.stop();
      installed?.remove();
    });

    for (const [path, on] of [
      ["/api/ask", "node"],
      ...(others === edge ? [["/api/edge", "edge-runtime"]] : []),
    ])
      test(`its route ${path} runs an agent (${on})`, async () => {
        const answer = await fetch(server.url + path, { method: "POST", body: "What is 19 * 23?" });
        assert.equal(answer.status, 200, await answer.clone().text());
        const { outcome, text, on: runtime } = await answer.json();
        assert.equal(outcome, "completed");
        assert.ok(text.length > 0);
        assert.equal(runtime, on);
      });

    test(
      "its page streams the engine and runs an agent in Chromium",
      { skip: !LOOPLET_CHROMIUM && "no Chromium" },
      async () => {
        const browser = await chromium.launch({
          executablePath: LOOPLET_CHROMIUM,
          args: chromiumArgs,
        });
        try {
          const page = await browser.newPage();
          const engine = watchEngine(page);
          await page.goto(server.url);
          await page.click("text=Ask");
          await page.waitForFunction(() => document.querySelector("p").textContent !== "", null, {
            timeout: 20_000,
          });
          assert.match(await page.textContent("p"), /^completed: ./);
          assert.equal(await engine(), "the file");
        } finally {
          await browser.close();
        }
      },
    );
  });
