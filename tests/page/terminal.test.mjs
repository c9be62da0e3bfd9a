// `npm start -- --once "question"`: the same agent, on a terminal that is none.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

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
  assert.match(out, /auth: invalid x-api-key\nfailed · /);
});

test("Ctrl-C stops the run and still says what it came to", async () => {
  const { code, out } = await run(["Look up keys in the archive"], (child, text) => {
    // A second Ctrl-C would end the process without a word.
    if (text.includes('"done":0') && !child.killed) child.kill("SIGINT");
  });
  assert.equal(code, 1);
  assert.match(out, /slow_lookup cancelled[\s\S]*cancelled · 1 iteration/);
});

test("a wrong use ends with 2 and one line that helps", async () => {
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
    assert.equal(err.trim().split("\n").length, 1);
  }
});

/** Contract: `watch` sees all the output so far whenever there is more. */
function run(args, watch = () => {}) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", FORCE_COLOR: undefined };
    const child = spawn(process.execPath, [once, ...args], { env, timeout: 60_000 });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => watch(child, (out += bytes)));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}
