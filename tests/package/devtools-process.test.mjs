// `serveDevtools` in a process of its own: over HTTP, by strangers, and in Chromium.
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { chromiumArgs, findBrowser } from "../../scripts/lib/browser.mjs";
import { ask, follow, runtimes, startProgram } from "./devtools-kit.mjs";
import { installPacked } from "./install.mjs";

let installed;
before(async () => (installed = await installPacked()));
after(() => installed?.remove());

/** Does what `use(program)` does with a program that lives until then. */
async function served(use, command) {
  const program = await startProgram(installed.folder, { keepAlive: true }, command);
  try {
    return await use(program);
  } finally {
    program.kill();
  }
}

const json = { "content-type": "application/json" };

for (const [name, command] of Object.entries(runtimes)) {
  test(`a process of ${name} tells its runs, answers, and ends its connections`, () =>
    served(async ({ url, line, send, ended }) => {
      await line("ran Take an umbrella.");
      const { response, next, ended: over } = await follow(url);
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      const { source, agents } = await next(({ type }) => type === "source");
      assert.deepEqual(agents, [{ name: "support", model: "m", system: "", tools: ["read"] }]);
      const { run } = await next(({ type }) => type === "process");
      const { inputs } = await next(({ type }) => type === "inputs");
      assert.ok(inputs.length > 5);
      const asked = { looplet: 1, type: "export", source, run, request: 7 };
      const { status } = await ask(`${url}ask`, {
        method: "POST",
        headers: json,
        body: JSON.stringify(asked),
      });
      assert.equal(status, 204);
      const { value } = await next(({ type, request }) => type === "reply" && request === 7);
      assert.equal(JSON.parse(value).id, run);
      assert.doesNotMatch(value, /plain-key/);
      send("close");
      await line("closed");
      await over;
      assert.equal(await ended, 0);
      await assert.rejects(ask(url), { code: "ECONNREFUSED" });
    }, command));

  test(`a process of ${name} ends when it has nothing left to do, also while a page reads`, async () => {
    const { url, ended, kill } = await startProgram(installed.folder, {}, command);
    // Bun waits until the page has left.
    const reading = name === "bun" ? undefined : follow(url).catch(() => {});
    assert.equal(await ended, 0);
    await reading;
    kill();
  });
}

test("strangers get nothing", () =>
  served(async ({ url }) => {
    const { origin, port, pathname } = new URL(url);
    const token = pathname.split("/")[1];
    assert.ok(token.length >= 32);
    const post = (headers, body = "{}") => ask(`${url}ask`, { method: "POST", headers, body });
    const other = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
    const answers = {
      "no token": [await ask(`${origin}/`), 403],
      "the page without a token": [await ask(`${origin}/dist/devtools.js`), 403],
      "another token": [await ask(`${origin}/${other}/`), 403],
      "a part of it": [await ask(`${origin}/${token.slice(0, 8)}/events`), 403],
      "a name that points here": [await ask(url, { headers: { host: `evil.test:${port}` } }), 403],
      "a name that begins as ours": [await ask(url, { headers: { host: "127.0.0.1.evil.test" } }), 403],
      "a page of another origin": [
        await ask(`${url}events`, { headers: { origin: "https://evil.test" } }),
        403,
      ],
      "another port": [await post({ ...json, origin: `http://127.0.0.1:${Number(port) + 1}` }), 403],
      "a form": [await post({ "content-type": "text/plain" }), 415],
      "a text that is not JSON": [await post(json, "{"), 400],
      "a file above": [await ask(`${url}dist/%2e%2e/package.json`), 404],
      "a file of another kind": [await ask(`${url}dist/looplet.wasm`), 404],
      "another method": [await ask(url, { method: "DELETE" }), 405],
      "an address that is none": [await ask(`${url}//`), 404],
    };
    for (const [name, [{ status, headers, text }, expected]] of Object.entries(answers)) {
      assert.equal(status, expected, name);
      assert.equal(headers["access-control-allow-origin"], undefined, name);
      assert.ok(!text.includes(token), name);
    }
    const others = Object.values(networkInterfaces()).flat();
    for (const { address, family } of [...others, { address: "::1", family: "IPv6" }]) {
      if (address === "127.0.0.1" || address.startsWith("fe80:")) continue;
      const place = family === "IPv6" ? `[${address}]` : address;
      await assert.rejects(
        ask(`http://${place}:${port}${pathname}`),
        /ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/,
        place,
      );
    }
    const long = await post(json, Buffer.alloc(65 * 1024 * 1024, 32)).catch(({ code }) => code);
    assert.ok(long.status === 413 || /EPIPE|ECONNRESET/.test(long), String(long.status ?? long));
    const page = await ask(url, { headers: { host: `localhost:${port}` } });
    assert.equal(page.status, 200);
    const { headers } = page;
    assert.match(
      headers["content-security-policy"],
      /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/,
    );
    assert.match(headers["content-security-policy"], /; frame-ancestors 'none'$/);
    assert.doesNotMatch(headers["content-security-policy"], /unsafe-inline|\*/);
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
  }));

const executablePath = findBrowser("chromium")?.browser;
const inChromium = { skip: executablePath === undefined && "no Chromium" };

test("the page shows the run, and lets it go on in the process", inChromium, () =>
  served(async ({ url, line, send }) => {
    await line("ran ");
    const browser = await chromium.launch({ executablePath, args: chromiumArgs });
    try {
      const page = await browser.newPage();
      const errors = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      await page.goto(url);
      await page.getByText("Attached to checkout").waitFor();
      await page.getByText("Take an umbrella.").first().waitFor();
      await page.getByRole("option", { name: /Tool finishes/ }).click();
      await page.getByRole("tab", { name: "Continue", exact: true }).click();
      await page.getByLabel("System prompt").fill("Be brief.");
      await page.getByRole("button", { name: "Continue from here" }).click();
      await page.getByText(/forked at step/).waitFor();
      await page.getByRole("tab", { name: "State", exact: true }).click();
      await page.getByText("Otherwise.").first().waitFor();
      assert.deepEqual(errors, []);
      send("close");
      await page.getByText("Attached to checkout").waitFor({ state: "detached" });
    } finally {
      await browser.close();
    }
  }),
);
