// The program `looplet` of the packed package, in processes of its own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { installPacked } from "./install.mjs";

const { LOOPLET_NODE = process.execPath, LOOPLET_DENO, LOOPLET_BUN } = process.env;

const AGENT = `
import { anthropic, createAgent, tool } from "looplet";
import { scripted } from "looplet/practice";
const inputSchema = { type: "object", properties: { city: { type: "string" } } };
const fetch = scripted([
  { text: "Let me look.", toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
  { toolCalls: [{ name: "book", input: { city: "Paris" } }] },
  { text: "It rains." },
]);
const question = {
  message: "Which class?\\n→ pay\\nAllow it?",
  requestedSchema: { type: "object", properties: { class: { type: "string", enum: ["first", "second"] } } },
};
export default () => createAgent({
  model: anthropic("claude-test", { fetch }),
  system: process.env.SYSTEM ?? "Be brief.",
  tools: {
    weather: tool({ description: "Weather", readOnly: true, inputSchema, execute: () => "Rain\\u001b[2J" }),
    book: tool({
      description: "Books",
      needsApproval: true,
      inputSchema,
      execute: async (_, { elicit }) => JSON.stringify(await elicit(question)),
    }),
  },
});
`;

/** A tool that pays again when its process has died. */
const PAYS = `
import { anthropic, createAgent, tool } from "looplet";
import { memoryStore } from "looplet/stores";
export default (world) => createAgent({
  model: anthropic("claude-test", { apiKey: "any" }),
  store: memoryStore(),
  timeouts: { toolMs: 60_000 },
  limits: { maxIterations: 20 },
  tools: {
    pay: tool({
      description: "Pays",
      inputSchema: { type: "object", properties: { cents: { type: "integer", minimum: 1 } }, required: ["cents"] },
      replay: "safe",
      async execute({ cents }, { toolCallId }) {
        await world.sleep(200);
        world.effect("payment", toolCallId);
        return String(cents);
      },
    }),
  },
});
`;

describe("the program looplet", () => {
  let installed, folder, program;
  before(async () => {
    installed = await installPacked();
    ({ folder } = installed);
    program = join(folder, "node_modules/.bin/looplet");
    writeFileSync(join(folder, "agent.mjs"), AGENT);
    const hanging = `[{ hang: true }]`;
    writeFileSync(join(folder, "hanging.mjs"), AGENT.replace(/\[\n {2}\{ text[^]*?\n\]/, hanging));
    writeFileSync(join(folder, "pays.mjs"), PAYS);
    writeFileSync(join(folder, "broken.mjs"), 'throw new Error("no key");\n');
    writeFileSync(join(folder, "empty.mjs"), "export default 7;\n");
  });
  after(() => installed?.remove());

  /**
   * What a call prints, and its exit code. `input` is its standard input, which ends then; `null` leaves it open.
   * `onOut` gets what it has printed so far.
   */
  function call(
    args,
    { input = "", env = {}, command = LOOPLET_NODE, first = [program], onOut = () => {} } = {},
  ) {
    return new Promise((resolve, reject) => {
      const { NODE_TEST_CONTEXT: _, ...outer } = process.env;
      const child = spawn(command, [...first, ...args], {
        cwd: folder,
        env: { ...outer, ...env },
        timeout: 60_000,
      });
      let [out, err] = ["", ""];
      child.stdout.on("data", (bytes) => onOut((out += bytes), child));
      child.stderr.on("data", (bytes) => (err += bytes));
      child.stdin.on("error", () => {});
      if (input !== null) child.stdin.end(input);
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, out, err }));
    });
  }

  /** Records `bug.loop`, once. */
  async function recorded() {
    if (existsSync(join(folder, "bug.loop"))) return;
    const { code } = await call(["run", "agent.mjs", "Umbrella?", "--record", "bug.loop"], {
      input: "y\nsecond\ny\n",
    });
    assert.equal(code, 0);
  }

  test("shows its commands on one screen, and the options of each", async () => {
    const { code, out } = await call(["--help"]);
    assert.equal(code, 0);
    const names = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    assert.ok(names.length > 6);
    for (const help of [
      out,
      ...(await Promise.all(names.map((name) => call([name, "--help"])))).map(({ out }) => out),
    ]) {
      const lines = help.split("\n");
      assert.ok(lines.length <= 24, help);
      for (const line of lines) assert.ok(line.length <= 80, line);
    }
  });

  test("says what is wrong with a call, with exit code 2", async () => {
    for (const [args, why] of [
      [[], /RUN\.loop is a file/],
      [["fly"], /unknown command "fly"; the commands are run/],
      [["run", "agent.mjs"], /looplet run: PROMPT is missing/],
      [["run", "nowhere.mjs", "Hi"], /nowhere\.mjs cannot be loaded/],
      [["run", "broken.mjs", "Hi"], /broken\.mjs cannot be loaded: no key \(file:.*broken\.mjs:1:7\)/],
      [
        ["run", "empty.mjs", "Hi"],
        /empty\.mjs needs an agent of createAgent as its default export.*it has the number 7/,
      ],
      [["inspect", "nowhere.loop"], /nowhere\.loop cannot be read: the file does not exist/],
      [["inspect", "agent.mjs"], /not a \.loop file/],
      [["replay", "agent.mjs", "more"], /more is an unexpected argument/],
      [["replay", "agent.mjs", "--colour"], /--colour/],
      [["step", "agent.mjs", "--at", "x"], /--at needs a whole number, got x/],
      [["fork", "agent.mjs"], /--at N is missing/],
    ]) {
      const { code, out, err } = await call(args);
      assert.equal(code, 2, args.join(" "));
      assert.match(out + err, why);
      assert.doesNotMatch(err, /\n {4}at /);
    }
  });

  test("runs an agent, asks for approvals and answers, and records the run", async () => {
    const { code, out, err } = await call(["run", "agent.mjs", "Umbrella?"], { input: "y\nsecond\ny\n" });
    assert.equal(code, 0);
    assert.equal(out, "Let me look.\nIt rains.\n");
    assert.match(err, /→ weather \{"city":"Paris"\}\n← weather Rain/);
    assert.match(err, /Allow it\?.*book asks: Which class\? → pay Allow it\?\nclass \(first, second\): /s);
    assert.match(err, /← book \{"action":"accept","content":\{"class":"second"\}\}/);
    assert.match(err, /completed · 3 iterations · \d+ \+ \d+ tokens/);
    assert.doesNotMatch(out + err, /\u001b/);
    await recorded();
    assert.match(readFileSync(join(folder, "bug.loop"), "utf8"), /^\{"loop":1,/);
    // A recording has the conversation, which other users of the machine must not read.
    if (process.platform !== "win32") assert.equal(statSync(join(folder, "bug.loop")).mode & 0o777, 0o600);
  });

  test("sends a form after a clear yes only", async () => {
    for (const [said, action] of [
      ["YES", "accept"],
      ["you wish", "decline"],
      ["no", "decline"],
    ]) {
      const { err } = await call(["run", "agent.mjs", "Umbrella?"], { input: `y\nsecond\n${said}\n` });
      assert.match(err, new RegExp(`← book \\{"action":"${action}"`));
    }
  });

  test("denies what nobody is there to allow", async () => {
    const { code, err } = await call(["run", "agent.mjs", "Umbrella?"]);
    assert.equal(code, 0);
    assert.match(err, /✗ book denied: .*No user is there to allow it/);
  });

  test("speaks JSON lines, and takes answers as such", async () => {
    const answered = new Set();
    const onOut = (out, child) => {
      const events = out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      for (const { type, question, questionId } of events) {
        if (type !== "question" || question !== "permission" || answered.has(questionId)) continue;
        answered.add(questionId);
        const answer = { behavior: "deny", message: "Not today." };
        child.stdin.write(`nonsense\n${JSON.stringify({ questionId, answer })}\n`);
      }
    };
    const { code, out, err } = await call(["run", "agent.mjs", "Hi", "--json"], { input: null, onOut });
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(code, 0);
    assert.equal(events.at(-1).type, "finish");
    assert.equal(events.find(({ type }) => type === "tool-error").error.message.includes("Not today."), true);
    assert.match(err, /this line is not an answer/);
  });

  test("aborts a run at Ctrl-C", async () => {
    let isSent = false;
    const onOut = (out, child) => {
      if (isSent || !out.includes("attempt-start")) return;
      isSent = true;
      child.kill("SIGINT");
    };
    const { code, out } = await call(["run", "hanging.mjs", "Hi", "--json"], { onOut });
    assert.equal(code, 1);
    assert.match(out, /"type":"abort","reason":"interrupted"|"reason":"interrupted"/);
  });

  test("tells what happened, and what a file would tell", async () => {
    await recorded();
    const { code, out } = await call(["inspect", "bug.loop"]);
    assert.equal(code, 0);
    assert.match(out, /^root +1 +1 +claude-test +\d+ \+ \d+ tokens +tool_calls +weather$/m);
    assert.match(out, /asked: api\.anthropic\.com/);
    assert.match(out, /system prompt: 9 characters/);
    assert.match(out, /nothing that looks like a key/);
    const text = readFileSync(join(folder, "bug.loop"), "utf8");
    writeFileSync(join(folder, "key.loop"), text.replaceAll("Be brief.", "Key: sk-abcdefghijklmnop1234"));
    assert.match((await call(["inspect", "key.loop"])).out, /looks like a key: Key: \*\*\*\* \(1 time\)/);
    const told = JSON.parse((await call(["inspect", "key.loop", "--json"])).out);
    assert.equal(told.iterations.length, 3);
    assert.equal(told.told.secrets.length, 1);
  });

  test("plays a file, alone and with a changed agent", async () => {
    await recorded();
    assert.match((await call(["replay", "bug.loop"])).out, /^equal: \d+ steps, 3 requests, completed\n$/);
    const changed = await call(["replay", "bug.loop", "--agent", "agent.mjs"], {
      env: { SYSTEM: "Be kind." },
    });
    assert.equal(changed.code, 1);
    assert.match(changed.out, /^Request 1 differs in its body, at character \d+/);
    const json = await call(["replay", "bug.loop", "--json"]);
    assert.deepEqual(JSON.parse(json.out), { equal: true, outcome: "completed", requests: 3 });
  });

  test("walks through the steps of a file", async () => {
    await recorded();
    const { code, out, err } = await call(["step", "bug.loop"], { input: "n\np\np\n3\nq\n" });
    assert.equal(code, 0);
    assert.deepEqual(
      [...out.matchAll(/^step (\d+) of/gm)].map(([, number]) => number),
      ["1", "2", "1", "3"],
    );
    assert.match(err, /There is no step 0\./);
    const one = await call(["step", "bug.loop", "--at", "2"]);
    assert.match(one.out, /request +POST https:\/\/api\.anthropic\.com\/v1\/messages/);
    assert.equal((await call(["step", "bug.loop", "--at", "9999"])).code, 2);
  });

  test("goes on from a step with an agent", async () => {
    await recorded();
    const steps = (await call(["step", "bug.loop", "--json"])).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const answered = steps.find(({ state }) => state.toolCalls.length === 1).step;
    const args = ["fork", "bug.loop", "--at", `${answered + 2}`, "--agent", "agent.mjs"];
    const { code, out } = await call(args, { input: "n\n" });
    assert.equal(code, 0);
    assert.match(out, /It rains\.|Let me look\./);
    const beyond = await call(["fork", "bug.loop", "--at", "9999", "--agent", "agent.mjs"]);
    assert.equal(beyond.code, 2);
    assert.match(beyond.err, /^looplet fork: at: needs the index of a step[^\n]*\n$/);
  });

  test("compares runs with a changed agent, and writes reports", async () => {
    await recorded();
    const args = ["compare", "bug.loop", "bug.loop", "--agent", "agent.mjs"];
    const same = await call(args);
    assert.equal(same.code, 0);
    assert.match(same.out, /^Of 2 runs 2 equal\.\n/);
    const files = ["--junit", "report.xml", "--markdown", "report.md"];
    const changed = await call([...args, ...files], { env: { SYSTEM: "Be kind." } });
    assert.equal(changed.code, 1);
    assert.match(changed.out, /^Of 2 runs 2 another request\.\n[^]*\n {4}- Be brief\.\n {4}\+ Be kind\.\n/);
    assert.match(readFileSync(join(folder, "report.xml"), "utf8"), /<testsuites tests="2" failures="2">/);
    assert.match(
      readFileSync(join(folder, "report.md"), "utf8"),
      /^```diff\n- Be brief\.\n\+ Be kind\.\n```$/m,
    );
    assert.equal(JSON.parse((await call([...args, "--json"])).out).isFailed, false);
    assert.match((await call([...args, "--hooks"])).out, /^Of 2 runs 2 equal\./);
    assert.match((await call(["compare", "bug.loop", "--tools"])).err, /need --agent AGENT/);
    // Without an agent it is this version of looplet, against what the file expects.
    const bare = await call(["compare", "bug.loop"]);
    assert.equal(bare.code, 1);
    assert.match(bare.out, /stopped[^]*withExpectations\(file\)/);
  });

  test("compares live under a bound", async () => {
    await recorded();
    const args = ["compare", "bug.loop", "--agent", "agent.mjs", "--live"];
    const { code, out } = await call([...args, "--max-requests", "9"]);
    assert.equal(code, 0, out);
    assert.match(out, /^Of 1 run 1 equal\.\n[^]*requests sent +3 /);
    for (const [more, why] of [
      [[], /--live needs --max-usd N/],
      [["--max-usd", "x"], /--max-usd needs a positive number, got x/],
      [["--max-requests", "9", "--tools"], /only one of --live, --tools and --hooks/],
    ]) {
      const wrong = await call([...args, ...more]);
      assert.equal(wrong.code, 2);
      assert.match(wrong.err, why);
    }
  });

  test("writes a test that passes", async () => {
    await recorded();
    const { code } = await call(["test", "bug.loop", "--out", "bug.test.mjs", "--expect"]);
    assert.equal(code, 0);
    const ran = await call(["bug.test.mjs"], { first: ["--test"] });
    assert.equal(ran.code, 0, ran.out);
    assert.match((await call(["test", "bug.loop"])).out, /new URL\("bug\.loop", import\.meta\.url\)/);
  });

  test("simulates an agent, and tells the story of a failure", async () => {
    const fine = await call(["simulate", "pays.mjs", "--seeds", "20"]);
    assert.equal(fine.code, 0, fine.out + fine.err);
    assert.match(fine.out, /^20 runs, no failure, digest [0-9a-f]{16}\n$/);
    const args = [
      "simulate",
      "pays.mjs",
      "--real-tools",
      "--never-twice",
      "payment",
      "--record",
      "failure.loop",
    ];
    const broken = await call(args);
    assert.equal(broken.code, 1, broken.out + broken.err);
    assert.match(broken.out, /neverTwice\("payment"\) is broken/);
    const [, choices] = /--replay '(\[.*\])'/.exec(broken.out);
    const again = await call([...args.slice(0, -2), "--replay", choices]);
    assert.equal(again.code, 1);
    assert.match(again.out, /^1 run, 1 failure/m);
    assert.equal((await call(["inspect", "failure.loop"])).code, 0);
    const wrong = await call(["simulate", "pays.mjs", "--replay", "nonsense"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--replay needs the choices of a failure as JSON/);
  });

  test("judges a run by a policy and by receipts", async () => {
    await recorded();
    const fine = await call(["verify", "bug.loop", "--tools", "weather,book", "--max-iterations", "9"]);
    assert.equal(fine.code, 0, fine.out + fine.err);
    assert.match(fine.out, /^✓ replay: .*\n✓ tools: .*\n✓ budget: .*\n$/);
    const broken = await call(["verify", "bug.loop", "--approved", "weather"]);
    assert.equal(broken.code, 1);
    assert.match(broken.out, /✗ approvals: the call \S+ of weather ran, and no answer had allowed it/);
    const receipt = { receipt: 1, journal: "run", entries: 1, head: "0".repeat(64) };
    writeFileSync(join(folder, "receipts.json"), JSON.stringify([receipt]));
    const forged = await call(["verify", "bug.loop", "--receipts", "receipts.json", "--json"]);
    assert.equal(forged.code, 1);
    assert.deepEqual(
      JSON.parse(forged.out).checks.map(({ name, passed }) => [name, passed]),
      [
        ["replay", true],
        ["receipts", false],
      ],
    );
    writeFileSync(join(folder, "receipts.json"), "nonsense");
    const wrong = await call(["verify", "bug.loop", "--receipts", "receipts.json"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /receipts\.json is not valid JSON/);
  });

  test("says what a machine lacks, and never the value of a key", async () => {
    const { code, out } = await call(["doctor"], { env: { ANTHROPIC_API_KEY: "sk-secret-value" } });
    assert.equal(code, 0, out);
    assert.match(out, /✓ engine: a run completes/);
    assert.match(out, /· keys:.*ANTHROPIC_API_KEY/);
    assert.match(out, /✓ package: [\d.]+ in /);
    assert.doesNotMatch(out, /sk-secret/);
  });

  test("shows an error for a hostile file, and nothing else", async () => {
    await recorded();
    const text = readFileSync(join(folder, "bug.loop"), "utf8");
    const hostile = {
      "cut.loop": text.slice(0, -200),
      "newer.loop": text.replace('"loop":1', '"loop":99'),
      "depth.loop": `{"loop":1,"id":"x","processes":${"[".repeat(5000)}${"]".repeat(5000)}}`,
      "proto.loop":
        '{"__proto__":{"loop":1},"loop":1,"id":"x","processes":[{"config":{},"options":{},"inputs":[{}]}]}',
      "random.loop": text.replaceAll('"random":"', '"random":"x'),
      "config.loop": text.replace('"config":{"model":{', '"config":{"model":7,"more":{'),
    };
    for (const [name, content] of Object.entries(hostile)) {
      writeFileSync(join(folder, name), content);
      for (const args of [["inspect"], ["replay"], ["step"], ["test"]]) {
        const { code, out, err } = await call([...args, name]);
        assert.equal(code, 2, `${args[0]} ${name}: ${out}${err}`);
        assert.equal(out, "", name);
        assert.match(err, /^looplet \w+: [^\n]+\n/);
        assert.doesNotMatch(err, /\n {4}at /);
      }
    }
    writeFileSync(
      join(folder, "escape.loop"),
      text.replaceAll("Let me look.", "\\u001b]0;owned\\u0007<script>"),
    );
    for (const args of [["inspect"], ["step", "--json"], ["step", "--at", "20"]])
      assert.doesNotMatch((await call([args[0], "escape.loop", ...args.slice(1)])).out, /[\u001b\u0007]/);
  });

  test("runs by npx, and in Deno and Bun where they are there", async () => {
    await recorded();
    const equal = /^equal: /;
    assert.match(
      (await call(["--offline", "looplet", "replay", "bug.loop"], { command: "npx", first: [] })).out,
      equal,
    );
    const file = join(folder, "node_modules/looplet/dist/cli.js");
    if (LOOPLET_DENO)
      assert.match(
        (await call(["replay", "bug.loop"], { command: LOOPLET_DENO, first: ["run", "-A", file] })).out,
        equal,
      );
    if (LOOPLET_BUN)
      assert.match((await call(["replay", "bug.loop"], { command: LOOPLET_BUN, first: [file] })).out, equal);
  });
});
