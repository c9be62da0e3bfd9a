// npm run check: what is published. Sizes against the budget, what the WebAssembly imports, the licences of what is
// inside, the report of the public API, publint, are-the-types-wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkApi } from "./api.mjs";
import { build } from "./build.mjs";
import { fail, root, run } from "./lib/machine.mjs";
import { checkLicences } from "./notices.mjs";
import { reportPrices } from "./prices.mjs";
import { setup } from "./setup.mjs";
import { checkSize } from "./size.mjs";

async function main() {
  const machine = await setup();
  await build({ machine });
  const results = [await checkSize(), await checkImports(), checkLicences(machine), checkApi()];
  const node = (...args) => run(process.execPath, args);
  const { code: publint } = await node(join(root, "node_modules/publint/src/cli.js"), "--strict");
  results.push(publint === 0);
  const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
  // The engine's own file has no types: it is passed to `init`, not read by TypeScript.
  const profile = ["--profile", "esm-only", "--exclude-entrypoints", "./looplet.wasm"];
  const { code: types } = await node(attw, "--pack", ".", ...profile);
  results.push(types === 0);
  await reportPrices();
  const failed = results.filter((ok) => !ok).length;
  console.log(`\ncheck: ${results.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** A host has to provide nothing but the glue: an import from elsewhere (`env`, WASI) would not load anywhere. */
async function checkImports() {
  const module = await WebAssembly.compile(readFileSync(join(root, "dist/looplet.wasm")));
  const imports = WebAssembly.Module.imports(module);
  const foreign = imports.filter((entry) => entry.module !== "./looplet_bg.js");
  for (const entry of imports) console.log(`  ${entry.module} ${entry.name.replace(/_[0-9a-f]{16}$/, "")}`);
  console.log(
    `${foreign.length === 0 ? "✓" : "✗"} the WebAssembly imports ${imports.length} functions, ${foreign.length} of them not from its glue`,
  );
  return foreign.length === 0;
}

await main().catch(fail);
