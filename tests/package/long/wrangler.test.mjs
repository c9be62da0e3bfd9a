// The example of Cloudflare as its README starts it: `wrangler dev`, of the version in its package.json.
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { here, installPacked, run } from "../install.mjs";
import { startServer } from "./server.mjs";

const example = join(here, "../../examples/cloudflare-worker");
process.env.WRANGLER_SEND_METRICS = "false";

describe("the example of Cloudflare under wrangler dev", () => {
  let installed, server;
  before(async () => {
    installed = await installPacked();
    const { folder } = installed;
    for (const name of ["src", "wrangler.jsonc"])
      cpSync(join(example, name), join(folder, name), { recursive: true });
    const { devDependencies } = JSON.parse(readFileSync(join(example, "package.json"), "utf8"));
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
    await run("npm", ["install", ...quiet, `wrangler@${devDependencies.wrangler}`], folder, 300_000);
    const wrangler = join(folder, "node_modules/wrangler/bin/wrangler.js");
    const args = (port) => ["dev", "--ip", "127.0.0.1", "--port", `${port}`];
    server = await startServer(folder, wrangler, args, /Ready on/);
  });
  after(() => {
    server?.stop();
    installed?.remove();
  });

  test("answers a prompt with the events of a run that calls its tool", async () => {
    const prompt = "What time is it in Tokyo?";
    const answer = await fetch(server.url, { method: "POST", body: JSON.stringify({ prompt }) });
    const body = await answer.text();
    assert.equal(answer.headers.get("content-type"), "text/event-stream", body);
    const events = body.trim().split("\n\n");
    assert.ok(
      events.some((event) => event.startsWith("event: tool-result\n")),
      body,
    );
    const [name, data] = events.at(-1).split("\n");
    assert.equal(name, "event: result");
    assert.equal(JSON.parse(data.slice("data: ".length)).outcome, "completed");
  });

  test("says what is wrong with a body that is no JSON", async () => {
    const answer = await fetch(server.url, { method: "POST", body: "Tokyo" });
    assert.equal(answer.status, 400);
    assert.match((await answer.json()).error, /JSON/);
  });
});
