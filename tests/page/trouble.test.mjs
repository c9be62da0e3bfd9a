// What the playground says and does when something goes wrong, and what it never does with a key or a foreign text.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Visitor, eachVisits, launch, serveSource, skip } from "./playground.mjs";

const key = "sk-test-0123456789";
const vendorUrl = "https://api.anthropic.com/v1/messages";

describe("the playground in trouble", { skip }, () => {
  let visitor, server, browser;
  eachVisits((fresh, host) => ([visitor, { server, browser }] = [fresh, host]), { mayComplain: true });

  test("a refused key says what to do, and trying again asks again", async () => {
    await visitor.ask("/practice 401\nWhat is 6 * 7?");
    const alert = visitor.page.getByRole("alert").filter({ hasText: "The key was refused" });
    assert.match(await alert.innerText(), /Check that the key[\s\S]* answered 401 auth at /);
    assert.match(await visitor.summaries.innerText(), /failed/);

    await visitor.button("Try again").click();
    await visitor.until(visitor.summaries.nth(1));
    assert.match(await visitor.answers.last().innerText(), /42/);
  });

  for (const failure of ["401", "529 x9", "drop x9"])
    test(`a new prompt after a run that failed (${failure}) is answered, not the failure`, async () => {
      await visitor.ask(`/practice ${failure}\nCalculate 7 / 0`);
      assert.match(await visitor.summaries.innerText(), /failed/);
      assert.match(await visitor.transcript.innerText(), /does not see this prompt again/);
      await visitor.ask("What is 6 * 7?");
      assert.match(await visitor.summaries.nth(1).innerText(), /completed/);
      assert.match(await visitor.answers.last().innerText(), /42/);
      assert.equal(await visitor.card("calculator").count(), 1);
      await visitor.page.reload();
      await visitor.ask("What is 7 * 8?");
      assert.match(await visitor.answers.last().innerText(), /56/);
    });

  test("a failed attempt is announced and tried again", async () => {
    await visitor.ask("/practice 529 x2\nWhat is 6 * 7?");
    const notices = await visitor.transcript.locator(".notice").allInnerTexts();
    assert.equal(notices.length, 2);
    assert.match(notices[1], /overloaded.*attempt 3 of 4/);
    assert.match(await visitor.summaries.innerText(), /completed/);
  });

  test("what a broken stream had said is taken back before it is said again", async () => {
    await visitor.ask("/practice drop\nWhat is 6 * 7?");
    const answer = await visitor.transcript.innerText();
    assert.match(answer, /attempt 2 of 4/);
    assert.equal(await visitor.page.locator(".reasoning").count(), 2, "one for each iteration");
    assert.equal(await visitor.card("calculator").count(), 1);
  });

  test("a limit stops a run and says which", async () => {
    await visitor.button("Connection: Practice provider").click();
    await visitor.page.getByRole("textbox", { name: "Iterations" }).fill("1");
    await visitor.button("Use this").click();
    await visitor.ask("What is 6 * 7?");
    assert.match(await visitor.transcript.innerText(), /The budget of this run is used up: iterations/);
  });

  test("a wrong setting is refused where it was typed", async () => {
    await visitor.button("Connection: Practice provider").click();
    await visitor.page.getByRole("textbox", { name: "Iterations" }).fill("0");
    await visitor.button("Use this").click();
    const alert = visitor.page.getByRole("dialog").getByRole("alert");
    assert.match(await alert.innerText(), /maxIterations/);
    assert.equal(await visitor.page.getByRole("dialog").isVisible(), true);
    await visitor.page.keyboard.press("Escape");
    assert.equal(await visitor.page.getByRole("dialog").isVisible(), false);
  });

  test("a vendor's key needs a consent, goes only to the vendor and is stored nowhere", async () => {
    const seen = [];
    await visitor.page.route(vendorUrl, async (route) => {
      const headers = route.request().headers();
      seen.push(headers["x-api-key"]);
      await route.fulfill(sse(answerOf("Hello from afar.")));
    });
    const others = [];
    visitor.page.on("request", (request) => {
      if (request.url() !== vendorUrl)
        others.push(JSON.stringify(request.headers()) + request.url() + request.postData());
    });

    await typeKey(visitor);
    await visitor.button("Use this").click();
    const dialog = visitor.page.getByRole("dialog");
    assert.match(await dialog.getByRole("alert").innerText(), /config_browser_key/);
    await dialog.getByRole("checkbox", { name: /my own key/ }).check();
    await visitor.button("Use this").click();
    assert.equal(await dialog.isVisible(), false);
    await visitor.ask("Hello");

    assert.match(await visitor.answers.last().innerText(), /Hello from afar/);
    assert.deepEqual(seen, [key]);
    assert.ok(!others.join().includes(key));
    const kept = await visitor.page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    assert.ok(!kept.includes(key));
    await visitor.page.reload();
    await visitor.button("Connection: Practice provider").waitFor();
    assert.equal(await visitor.page.locator("input[name=apiKey]").inputValue(), "");
  });

  test("half a price is refused, and so is one that is no number", async () => {
    await typeKey(visitor);
    const dialog = visitor.page.getByRole("dialog");
    await dialog.getByRole("checkbox", { name: /my own key/ }).check();
    const price = (name) => dialog.getByRole("textbox", { name, exact: true });
    await price("Input price").fill("3");
    await visitor.button("Use this").click();
    assert.match(await dialog.getByRole("alert").innerText(), /Prices: enter both/);
    assert.equal(await price("Output price").getAttribute("aria-invalid"), "true");
    await price("Output price").fill("a lot");
    await visitor.button("Use this").click();
    assert.equal(await price("Output price").getAttribute("aria-invalid"), "true");
    await price("Output price").fill("15");
    await visitor.button("Use this").click();
    assert.equal(await dialog.isVisible(), false);
  });

  test("a vendor that cannot be reached is a failure with advice", async () => {
    await visitor.page.route(vendorUrl, (route) => route.abort("connectionrefused"));
    await connect(visitor);
    await visitor.ask("Hello");
    assert.match(
      await visitor.transcript.innerText(),
      /cannot be reached[\s\S]*CORS[\s\S]*failed with network at/,
    );
    assert.ok(!(await visitor.transcript.innerText()).includes(key));
    await visitor.button("Open the connection").click();
    assert.equal(await visitor.page.getByRole("dialog").isVisible(), true);
  });

  test("the conversation goes on with another model", async () => {
    await visitor.ask("What is 6 * 7?");
    let messages;
    await visitor.page.route(vendorUrl, async (route) => {
      ({ messages } = route.request().postDataJSON());
      await route.fulfill(sse(answerOf("As I said.")));
    });
    await connect(visitor);
    await visitor.ask("And again?");
    assert.match(JSON.stringify(messages), /What is 6 \* 7\?[\s\S]*And again\?/);
  });

  test("a model's text can neither run scripts nor load anything", async () => {
    const foreign = [
      '<img src="https://evil.test/a.png" onerror="globalThis.harm = 1">',
      "![](https://evil.test/b.png)",
      "[click](javascript:globalThis.harm=1)",
      '<script>globalThis.harm = 1</script><iframe src="https://evil.test"></iframe>',
      '<p style="position:fixed;inset:0" id="prompt">over everything</p>',
      "<form action=https://evil.test><button>send</button></form>",
      "<dialog open>Your session has ended. <input type=password autofocus></dialog>",
      "<details open><summary>Sign in</summary><label>Key <textarea></textarea></label></details>",
      "<select><option>one</option></select><fieldset><meter></meter><progress></progress></fieldset>",
      '<p popover role="alert" data-state="done" aria-label="Connection" tabindex="0" contenteditable>words</p>',
      "<svg><a href=https://evil.test>drawn</a></svg><math><mi>x</mi></math><object></object><embed><marquee>",
      "- [x] done\n- [ ] open",
      "[fine](https://example.test)",
    ].join("\n\n");
    await visitor.page.route(vendorUrl, (route) => route.fulfill(sse(answerOf(foreign))));
    const evil = [];
    visitor.page.on("request", (request) => request.url().includes("evil") && evil.push(request.url()));
    await connect(visitor);
    await visitor.ask("Hello");

    const answer = visitor.answers.last();
    const shape = await answer.evaluate((node) => {
      const all = [...node.querySelectorAll("*")].filter(({ className }) => className !== "block");
      return {
        tags: [...new Set(all.map(({ localName }) => localName))].sort(),
        attributes: [...new Set(all.flatMap((one) => one.getAttributeNames()))].sort(),
      };
    });
    assert.deepEqual(shape, { tags: ["a", "li", "p", "ul"], attributes: ["href", "rel", "target"] });
    assert.match(await answer.innerText(), /☑ done\s+☐ open/);
    assert.deepEqual(
      await answer.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
      [null, "https://example.test"],
    );
    assert.equal(await visitor.page.evaluate(() => globalThis.harm), undefined);
    assert.deepEqual(evil, []);
  });

  test("where WebAssembly is forbidden the page says which directive is missing", async () => {
    await visitor.close();
    visitor = await Visitor.open(browser, server.url, {
      prepare: (page) =>
        page.route(server.url, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: (await response.text()).replace(" 'wasm-unsafe-eval'", "") });
        }),
    });
    await visitor.say("Hello");
    await visitor.until(visitor.transcript.getByText("The engine could not start"));
    assert.match(await visitor.transcript.innerText(), /'wasm-unsafe-eval'/);
    assert.equal(await visitor.prompt.inputValue(), "Hello");
  });
});

describe("the playground that npm start serves", { skip }, () => {
  test("runs under its Content-Security-Policy without a complaint", async () => {
    const [server, browser] = await Promise.all([serveSource(), launch()]);
    const visitor = await Visitor.open(browser, server.url);
    try {
      const policy = await visitor.page
        .locator("meta[http-equiv=Content-Security-Policy]")
        .getAttribute("content");
      assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
      await visitor.ask("What is 17 * 23 + 4, and read the document keys.md");
      assert.match(await visitor.answers.last().innerText(), /395/);
      await visitor.unfold("read_document");
      assert.match(await visitor.card("read_document").innerText(), /practice provider answers/);
      assert.deepEqual(visitor.complaints, []);
    } finally {
      await visitor.close();
      await browser.close();
      await server.close();
    }
  });
});

async function typeKey(visitor) {
  await visitor.button("Connection: Practice provider").click();
  const dialog = visitor.page.getByRole("dialog");
  await dialog.getByText("Anthropic", { exact: true }).click();
  await dialog.getByRole("textbox", { name: "Model", exact: true }).fill("claude-test");
  await dialog.locator("input[name=apiKey]").fill(key);
}

async function connect(visitor) {
  await typeKey(visitor);
  await visitor.page.getByRole("checkbox", { name: /my own key/ }).check();
  await visitor.button("Use this").click();
}

const sse = (events) => ({
  status: 200,
  headers: { "content-type": "text/event-stream", "access-control-allow-origin": "*" },
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
});

/** The events of an answer of Anthropic's Messages API. */
const answerOf = (text) => [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-test",
      content: [],
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
