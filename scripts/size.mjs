// What a browser downloads for an agent: the page's bundle of `import … from "looplet"`, the engine in it, and the parts of
// the engine that its options make it load. Prints raw, gzip and brotli bytes, and fails above a budget.
import { build } from "esbuild";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { isMain, root } from "./lib/machine.mjs";

const two = ["anthropic", "openai_responses"];
const five = [...two, "openai_chat", "gemini", "bedrock_converse"];
const plain = ["createAgent", "tool", "anthropic"];
const twoModels = [...plain, "openai"];
const fiveModels = [...twoModels, "openaiChat", "gemini", "bedrock"];
const questions = ["questions"];
const more = [
  "subagent",
  "handoff",
  "hasToolCall",
  "iterationCount",
  "LoopletError",
  "RunError",
  "ToolError",
];

/**
 * What an agent imports and which parts it loads; `budget`: gzip -9 bytes, as the sum over the files, what has been
 * reached plus 2 %; `target`: what is wanted. Panics unwind.
 */
const rows = [
  { name: "one protocol", imports: plain, parts: two.slice(0, 1), budget: 158_000 },
  { name: "two protocols", imports: twoModels, parts: two, budget: 165_400, target: 90_000 },
  { name: "five protocols", imports: fiveModels, parts: five, budget: 189_600, target: 110_000 },
  {
    name: "one protocol, all of control",
    imports: [...plain, ...more],
    parts: [...two.slice(0, 1), ...questions],
    budget: 184_500,
  },
  {
    name: "two protocols, all of control",
    imports: [...twoModels, ...more],
    parts: [...two, ...questions],
    budget: 191_900,
  },
  {
    name: "five protocols, all of control",
    imports: [...fiveModels, ...more],
    parts: [...five, ...questions],
    budget: 216_000,
    target: 130_000,
  },
  { name: "everything that the entry exports", imports: undefined, parts: undefined, budget: 225_600 },
];

/** Prints the table and tells whether the package is within its budgets. */
export async function checkSize() {
  print("a browser downloads", ["raw", "gzip -9", "brotli", "budget", "wanted"]);
  let ok = true;
  for (const { name, imports, parts, budget, target } of rows) {
    const files = await filesOf(imports, parts);
    const sizes = total(files);
    const isWithin = sizes[1] <= budget;
    ok &&= isWithin;
    print(`${isWithin ? "✓" : "✗"} ${name}`, [...sizes, budget, target ?? ""]);
  }
  print("", []);
  const wasm = readFileSync(join(root, "dist/looplet.wasm"));
  print("looplet/slim, its .wasm served beside it", total([...(await filesOf(undefined, [], "slim")), wasm]));
  print("looplet.wasm", total([wasm]));
  for (const file of readdirSync(join(root, "dist/chunks")).filter((name) => name.startsWith("part-")))
    print(file.replace(/-\w+\.js$/, ""), total([readFileSync(join(root, "dist/chunks", file))]));
  console.log(`${ok ? "✓" : "✗"} size`);
  return ok;
}

/** The files of the bundle that a page with these imports loads, as a bundler with code splitting makes them. */
async function filesOf(imports, parts, entry = "default") {
  const from = JSON.stringify(`./dist/${entry}.js`);
  const contents =
    imports === undefined
      ? `export * from ${from};`
      : `import { ${imports.join(", ")} } from ${from}; globalThis.used = [${imports.join(", ")}];`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    outdir: "size",
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    logLevel: "error",
  });
  const names = outputFiles.map(({ path }) => /\/(part-[a-z_]+)-[\w-]+\.js$/.exec(path)?.[1]);
  for (const part of parts ?? [])
    if (!names.includes(`part-${part}`)) throw new Error(`there is no part ${part} of the engine`);
  return outputFiles
    .filter(
      (_, index) =>
        parts === undefined || names[index] === undefined || parts.includes(names[index].slice(5)),
    )
    .map(({ contents: bytes }) => bytes);
}

function total(files) {
  const sizes = files.map((bytes) => [
    bytes.length,
    gzipSync(bytes, { level: 9 }).length,
    brotliCompressSync(bytes).length,
  ]);
  return [0, 1, 2].map((column) => sizes.reduce((sum, row) => sum + row[column], 0));
}

function print(name, numbers) {
  console.log(name.padEnd(42) + numbers.map((n) => String(n).padStart(9)).join(""));
}

if (isMain(import.meta.url)) {
  if (!existsSync(join(root, "dist/default.js"))) throw new Error("node scripts/build.mjs comes first");
  process.exitCode = (await checkSize()) ? 0 : 1;
}
