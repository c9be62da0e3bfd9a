// npm run lint: formatting, clippy on both targets, types, docs, the shape of the sources, a test per requirement.
// `npm run format` (--fix) formats, and writes src/typescript/core/generated.
import { join } from "node:path";
import { build } from "./build.mjs";
import { fail, root, run } from "./lib/machine.mjs";
import { checkRequirements } from "./requirements.mjs";
import { setup } from "./setup.mjs";
import { checkShape } from "./shape.mjs";

async function main() {
  const { rust, env } = await setup({ lint: true });
  const node = (tool, ...args) => [process.execPath, [join(root, "node_modules", tool), ...args]];
  const cargo = (tool, ...args) => [join(rust.bin, tool), args, env];
  const prettier = ["prettier/bin/prettier.cjs", "--log-level", "warn"];
  // The test of src/engine/model/tests/typescript.rs compares src/typescript/core/generated with the types, or writes
  // it.
  const generated = (env) => [join(rust.bin, "cargo"), ["test", "--quiet", "--lib", "typescript"], env];
  if (process.argv.includes("--fix")) {
    await all([
      ["rustfmt", cargo("cargo-fmt", "fmt", "--all")],
      ["generated types", generated({ ...env, LOOPLET_WRITE: "1" })],
      ["prettier", node(...prettier, "--write", ".")],
    ]);
    return;
  }
  const wasm32 = ["--target", "wasm32-unknown-unknown"];
  const wasmTargets = ["--all-features", "--lib", "--test", "wasm"];
  // rustdoc takes no other flag of rustc's.
  const sysroot = env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS.match(/--sysroot=\S+/)?.[0] ?? "";
  const cargoDoc = [
    join(rust.bin, "cargo"),
    ["doc", "--no-deps", "--document-private-items", ...wasm32],
    { ...env, RUSTDOCFLAGS: `-D warnings --cfg rooms ${sysroot}` },
  ];
  // The page for a Rust user: only the public names.
  const cargoDocNative = [
    join(rust.bin, "cargo"),
    ["doc", "--no-deps", "--lib"],
    { ...env, RUSTDOCFLAGS: "-D warnings" },
  ];
  const results = await all([
    ["rustfmt", cargo("cargo-fmt", "fmt", "--all", "--check")],
    ["prettier", node(...prettier, "--check", ".")],
    ["clippy, native", cargo("cargo-clippy", "clippy", "--all-targets", "--", "-D", "warnings")],
    ["clippy, wasm32", cargo("cargo-clippy", "clippy", ...wasm32, ...wasmTargets, "--", "-D", "warnings")],
    // Another WebAssembly app uses only the engine.
    ["the engine alone", cargo("cargo", "check", ...wasm32, "--no-default-features", "--lib")],
    ["generated types", generated(env)],
    ["rustdoc, public", cargoDocNative],
    // wasm32 has all three rooms, the native build has no shell.
    ["rustdoc", cargoDoc],
  ]);
  // The TypeScript is typed against the glue that the crate generates.
  await build({ dev: true, glueOnly: true });
  const tsc = (config) => node("typescript/bin/tsc", "-p", config);
  results.push(
    ...(await all([
      ["tsc, sources", tsc("tsconfig.json")],
      ["tsc, tests", tsc("tsconfig.tests.json")],
    ])),
  );
  results.push(await checkShape(), checkRequirements());
  const failed = results.filter((ok) => !ok).length;
  console.log(`\nlint: ${results.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

async function all(checks) {
  const results = [];
  for (const [name, [command, args, env]] of checks) {
    const startedMs = Date.now();
    const { code } = await run(command, args, { env: env ?? process.env });
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`);
    results.push(code === 0);
  }
  return results;
}

await main().catch(fail);
