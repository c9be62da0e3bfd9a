// `npm start -- --once "question"`: the same agent, on a terminal that is none.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Markdown } from "../../examples/screen-markdown.mjs";

const once = fileURLToPath(new URL("../../examples/once.mjs", import.meta.url));

test("a run is printed as it happens, plain, and ends with what it cost", async () => {
  const { code, out, err } = await run(["What is 17 * 23 + 4, and what time is it in Tokyo?"]);
  assert.equal(code, 0);
  assert.equal(err, "");
  assert.ok(!out.includes("\u001b"), "no colours in a pipe");
  assert.match(
    out,
    /→ calculator \{"expression":"17 \* 23 \+ 4"\}\n→ time [\s\S]*✓ calculator 395 \(\d+ ms\)\n/,
  );
  assert.match(out, /17 \* 23 \+ 4 = 395/);
  assert.match(
    out.trim().split("\n").at(-1),
    /^completed · 2 iterations · 2 tool calls · \d+ tokens in · \d+ out · \$0\.\d+$/,
  );
});

test("the words of a question need no quotes", async () => {
  const { out } = await run(["What", "is", "6", "*", "7?"]);
  assert.match(out, /✓ calculator 42/);
});

test("a run that fails says why and ends with 1", async () => {
  const { code, out } = await run(["/practice 401\nWhat is 6 * 7?"]);
  assert.equal(code, 1);
  assert.match(out, /answered 401 auth at \S+: invalid x-api-key\nfailed · /);
});

test("Ctrl-C stops the run and still says what it came to", async () => {
  const { code, out } = await run(["Look up keys in the archive"], (child, text) => {
    // A second Ctrl-C would end the process without a word.
    if (text.includes('"done":0') && !child.killed) child.kill("SIGINT");
  });
  assert.equal(code, 1);
  assert.match(out, /slow_lookup cancelled[\s\S]*cancelled · 1 iteration/);
});

test("a wrong use ends with 2 and says what helps", async () => {
  for (const [args, words] of [
    [[], /Ask something/],
    [["--model", "nobody:x", "Hello"], /anthropic:… or openai:…/],
    [["--model", "openai:gpt-test", "Hello"], /key/i],
    [["--nonsense", "Hello"], /--nonsense/],
  ]) {
    const { code, out, err } = await run(args);
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(err, words);
    const [, place, ...more] = err.trim().split("\n");
    assert.match(place ?? "", /^(|See docs\/tasks\/errors\.md#\w+ in the package looplet\.)$/);
    assert.deepEqual(more, []);
  }
});

test("on a terminal Markdown is rendered", async () => {
  const prompt = "What is 17 * 23 + 4, and what time is it in Tokyo?";
  const { out } = await run([prompt], undefined, { FORCE_COLOR: "1", NO_COLOR: "" });
  assert.match(out, /\u001b\[1m17 \* 23 \+ 4 = 395\u001b\[0m\n/);
  assert.match(out, /Let me use \u001b\[36mcalculator\u001b\[0m and/);
  assert.match(out, /\nTime for \u001b\[1mAsia\/Tokyo\u001b\[0m: \u001b\[1m\w+day, /);
  assert.doesNotMatch(out, /\*\*|`/);
});

test("Markdown comes out the same however it is cut, and plain text comes out as it is", () => {
  const tags = { bold: "b", italic: "i", dim: "q", underline: "u", cyan: "c" };
  const paint = (style, text) => `<${tags[style]}>${text}</${tags[style]}>`;
  for (const [text, shown] of [
    [
      "# Title\nA **bold** word, an *open* one and `code`.",
      "<b>Title</b>\nA <b>bold</b> word, an <i>open</i> one and <c>code</c>.\n",
    ],
    ["- one\n* two\n  - three\n1. four", "• one\n• two\n  • three\n1. four\n"],
    [
      "> # A *title*\n> quoted _well_\n\n---",
      "<q>│ </q><b>A </b><i>title</i>\n<q>│ </q>quoted <i>well</i>\n\n<q>────────────────────────</q>\n",
    ],
    ["```js\nconst a = b ** c; // *x*\n```\nend", "<c>  const a = b ** c; // *x*</c>\nend\n"],
    ["[site](https://a.test) ok", "<u>site</u><q> (https://a.test)</q> ok\n"],
    [
      "6 * 7 = 42, 2 ** 3, snake_case_name, a*b*c, [1], **never closed",
      "6 * 7 = 42, 2 ** 3, snake_case_name, a*b*c, [1], **never closed\n",
    ],
    ["**17 * 23 = 391**", "<b>17 * 23 = 391</b>\n"],
  ])
    for (let size = 1; size <= text.length; size += 1) {
      const markdown = new Markdown(paint);
      let out = "";
      for (let at = 0; at < text.length; at += size) out += markdown.write(text.slice(at, at + size));
      assert.equal(out + markdown.end(), shown, `in pieces of ${size}`);
    }
});

test("words are written as they come, not line by line", () => {
  const markdown = new Markdown((_, text) => text);
  assert.equal(markdown.write("Once upon a ti"), "Once upon a ");
  assert.equal(markdown.write("me in **the "), "time in ");
  assert.equal(markdown.write("west** there"), "the west ");
});

/** Contract: `watch` sees all the output so far whenever there is more. */
function run(args, watch = () => {}, more = {}) {
  return new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      OPENAI_API_KEY: "",
      ANTHROPIC_API_KEY: "",
      FORCE_COLOR: undefined,
      ...more,
    };
    const child = spawn(process.execPath, [once, ...args], { env, timeout: 60_000 });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => watch(child, (out += bytes)));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}
