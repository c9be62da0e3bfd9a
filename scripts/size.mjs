// What a browser downloads for `import "looplet"`: every JavaScript file of the default entry with the engine in it.
// Prints raw, gzip and brotli bytes, and fails above the budget.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { isMain, root } from "./lib/machine.mjs";

/** gzip -9 bytes that five protocols with control are to have, as the sum over the files, panics unwinding included. */
const targetBytes = 130_000;
/** What has been reached, plus 2 %: the gate until the target is. */
export const budgetBytes = 203_200;

/** Prints the table and tells whether the package is within its budget. */
export function checkSize() {
  const sizes = (bytes) => [
    bytes.length,
    gzipSync(bytes, { level: 9 }).length,
    brotliCompressSync(bytes).length,
  ];
  const row = (name, numbers) =>
    console.log(name.padEnd(44) + numbers.map((n) => String(n).padStart(9)).join(""));
  const plus = (a, b) => a.map((n, i) => n + b[i]);
  console.log("".padEnd(44) + ["raw", "gzip -9", "brotli"].map((text) => text.padStart(9)).join(""));
  let total = [0, 0, 0];
  for (const file of filesOf("dist/default.js")) {
    const numbers = sizes(readFileSync(join(root, file)));
    total = plus(total, numbers);
    row(file, numbers);
  }
  row("a browser downloads, engine inlined", total);
  const slim = filesOf("dist/slim.js").reduce(
    (sum, file) => plus(sum, sizes(readFileSync(join(root, file)))),
    [0, 0, 0],
  );
  row("slim (its .wasm served beside it)", plus(slim, sizes(readFileSync(join(root, "dist/looplet.wasm")))));
  row("looplet.wasm", sizes(readFileSync(join(root, "dist/looplet.wasm"))));
  const ok = total[1] <= budgetBytes;
  console.log(
    `${ok ? "✓" : "✗"} size: ${total[1]} of ${budgetBytes} bytes gzip; ${total[1] - targetBytes} above the target of ${targetBytes}`,
  );
  return ok;
}

// Static imports only: esbuild writes them as `from"./chunks/…"`.
function filesOf(entry, seen = new Set()) {
  if (seen.has(entry) || !existsSync(join(root, entry))) return [...seen];
  seen.add(entry);
  for (const [, path] of readFileSync(join(root, entry), "utf8").matchAll(
    /(?:from|import)\s*"(\.[^"]+\.js)"/g,
  ))
    filesOf(join(dirname(entry), path), seen);
  return [...seen];
}

if (isMain(import.meta.url)) process.exitCode = checkSize() ? 0 : 1;
