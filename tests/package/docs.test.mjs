// The examples of README.md and docs/ as a stranger copies them: every block of JavaScript is strict TypeScript on the
// package's own types, and runs, with the practice provider in the place of every server.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { expected } from "./docs-expected.mjs";
import { here, installPacked, run } from "./install.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

/** `{ name, code }` of each block; `README-1` is the first of its page. */
const examples = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```(?:js|ts)\n([\s\S]*?)^```/gm)].map(
    ([, code], at) => ({
      name: `${page.replace(/^docs\/|\.md$/g, "")}-${at + 1}`,
      code: moduleOf(code),
    }),
  ),
);

/**
 * The block as a module that gives away what it has made and imported; what it makes without a name is `made1`, `made2`.
 * A block that throws is one that a tool would run.
 */
function moduleOf(code) {
  if (code.startsWith("throw ")) return `export function thrown() {\n${code}}\n`;
  let at = 0;
  const named = code.replace(
    /^(?=(?:createAgent|bedrock|compatible|agent\.run)\()/gm,
    () => `const made${++at} = `,
  );
  const made = [...named.matchAll(/^const (\w+) =/gm)].map(([, name]) => name);
  const imported = [...named.matchAll(/^import \{ (.*) \} from/gm)].flatMap(([, names]) => names.split(", "));
  return `${named}export { ${[...made, ...imported].join(", ")} };\n`;
}

describe("the examples of the documentation", () => {
  let installed, folder;
  before(async () => {
    installed = await installPacked();
    folder = join(installed.folder, "docs");
    mkdirSync(folder);
    for (const { name, code } of [
      ...examples,
      { name: "names", code: readFileSync(join(here, "docs-names.ts"), "utf8") },
    ]) {
      writeFileSync(join(folder, `${name}.ts`), code);
      const { code: js } = await transform(code, { loader: "ts", target: "es2022" });
      writeFileSync(join(folder, `${name}.mjs`), js);
    }
    symlinkSync(join(root, "node_modules/zod"), join(installed.folder, "node_modules/zod"));
    cpSync(join(here, "otel-double"), join(installed.folder, "node_modules/@opentelemetry/api"), {
      recursive: true,
    });
  });
  after(() => installed?.remove());

  test("are found", () => assert.ok(examples.length > 30, `${examples.length}`));

  test("are strict TypeScript", async () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2022",
      lib: ["es2022"],
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
      module: "esnext",
      moduleResolution: "bundler",
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    await run(process.execPath, [tsc, "-p", "tsconfig.json"], folder);
  });

  describe("run", () => {
    const { fetch } = globalThis;
    const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
    let names, looplet, practice, requests, provider;
    before(async () => {
      const dist = join(installed.folder, "node_modules/looplet/dist");
      [looplet, practice] = await Promise.all(
        ["node", "practice"].map((name) => import(pathToFileURL(join(dist, `${name}.js`)).href)),
      );
      process.env.ANTHROPIC_API_KEY = "key";
      globalThis.fetch = async (url, init) => {
        if (init?.method !== "POST") return new Response("Rain");
        const body = await new Response(init.body).text();
        requests.push({ url: String(url), headers: new Headers(init.headers), body });
        return provider(url, init);
      };
      names = await load("names");
    });
    after(() => (globalThis.fetch = fetch));

    for (const { name } of examples)
      test(name, async () => {
        requests = [];
        provider = practice.practice({ delayMs: 0 });
        names.fresh();
        const { before, after = completed } = expected[name] ?? {};
        await before?.({ looplet, practice, answer: (...turns) => (provider = practice.scripted(turns)) });
        const { made, output } = await printed(() => load(name));
        await after({ made, output, requests, looplet, practice, calls: names.calls });
      });

    test("are all there that an expectation names", () => {
      const known = examples.map(({ name }) => name);
      assert.deepEqual(
        Object.keys(expected).filter((name) => !known.includes(name)),
        [],
      );
    });
  });
});

/** An example makes an agent, a run or a result: the run completes. */
async function completed({ made: { agent, run, result } }) {
  const { outcome, error } = result ?? (await (run ?? agent.run("Hello")).result);
  assert.equal(outcome, "completed", `${error?.code}: ${error?.message}`);
}

/** What was made, and what was printed meanwhile. */
async function printed(make) {
  const { log } = console;
  const { write } = process.stdout;
  const output = [];
  console.log = (...words) => output.push(`${words.join(" ")}\n`);
  // The runner tells its own events as bytes.
  process.stdout.write = (text, ...rest) =>
    typeof text === "string" ? output.push(text) > 0 : write.call(process.stdout, text, ...rest);
  try {
    return { made: await make(), output };
  } finally {
    console.log = log;
    process.stdout.write = write;
  }
}
