// What a browser downloads: the engine's .wasm with all the JavaScript of `looplet/external`, and the JavaScript of a
// minimal agent. Prints raw, gzip and brotli bytes, and fails above a gate.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { isMain, root } from "./lib/machine.mjs";

/** Column and bytes: what has been reached plus 2 %; below, what is wanted. */
const gates = { everything: [2, 418_000], minimal: [0, 137_000] };
const targets = { everything: 270_000, minimal: 80_000 };

/** Prints the table and tells whether the package is within its gates. */
export async function checkSize() {
  print("", ["raw", "gzip -9", "brotli", "gate", "wanted"]);
  const wasm = readFileSync(join(root, "dist/looplet.wasm"));
  const all = await bundled('export * from "./dist/external.js";');
  const minimal = await bundled(
    'import { createAgent, tool, anthropic } from "./dist/external.js"; globalThis.used = [createAgent, tool, anthropic];',
  );
  print("looplet.wasm", sizes([wasm]));
  print("all of looplet/external", sizes([all]));
  const results = [
    gated("everything", "the two together", sizes([wasm, all])),
    gated("minimal", "JavaScript of a minimal agent", sizes([minimal])),
  ];
  return results.every((isWithin) => isWithin);
}

function gated(row, name, counts) {
  const [column, gate] = gates[row];
  const isWithin = counts[column] <= gate;
  print(`${isWithin ? "✓" : "✗"} ${name}`, [...counts, gate, targets[row]]);
  return isWithin;
}

/** The bundle of a page with these imports, minified. */
async function bundled(contents) {
  // Set-up may have just installed it.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    logLevel: "error",
  });
  return outputFiles[0].contents;
}

function sizes(files) {
  const packers = [
    (bytes) => bytes,
    (bytes) => gzipSync(bytes, { level: 9 }),
    (bytes) => brotliCompressSync(bytes),
  ];
  return packers.map((packed) => files.reduce((sum, bytes) => sum + packed(bytes).length, 0));
}

function print(name, numbers) {
  console.log(name.padEnd(34) + numbers.map((n) => String(n).padStart(9)).join(""));
}

if (isMain(import.meta.url)) {
  if (!existsSync(join(root, "dist/external.js"))) throw new Error("node scripts/build.mjs comes first");
  process.exitCode = (await checkSize()) ? 0 : 1;
}
