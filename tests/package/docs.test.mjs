// The examples of README.md and docs/ as a stranger copies them: every block of JavaScript is strict TypeScript on the
// package's own types, and runs, with the practice provider in the place of every server.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";
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

/** The block as a module that gives away what it has made. A block that throws is one that a tool would run. */
function moduleOf(code) {
  if (code.startsWith("throw ")) return `export function thrown() {\n${code}}\n`;
  const made = ["agent", "run", "result"].filter((name) => new RegExp(`^const ${name} =`, "m").test(code));
  return `${code}export { ${made.join(", ")} };\n`;
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
    let names;
    before(async () => {
      const { practice } = await import(
        pathToFileURL(join(installed.folder, "node_modules/looplet/dist/practice.js")).href
      );
      process.env.ANTHROPIC_API_KEY = "key";
      const provider = practice({ delayMs: 0 });
      globalThis.fetch = (url, init) =>
        init?.method === "POST" ? provider(url, init) : new Response("Rain");
      names = await load("names");
    });
    after(() => (globalThis.fetch = fetch));

    for (const { name, code } of examples)
      test(name, async () => {
        names.fresh();
        const { agent, run, result, thrown } = await load(name);
        if (thrown) return assert.throws(thrown, { name: "ToolError" });
        const made =
          result ??
          (await run?.result) ??
          (code.includes(".result") ? undefined : await agent?.run("Hello").result);
        assert.notEqual(made?.outcome, "failed", `${made?.error?.code}: ${made?.error?.message}`);
      });
  });
});
