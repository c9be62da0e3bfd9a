// Builds the npm package into dist/.
//   node scripts/build.mjs               as published: std and crate with fat LTO, optimised, minified
//   node scripts/build.mjs --dev         quick, for work on the code: prebuilt std, unoptimised, with source maps
//   node scripts/build.mjs --glue-only   only the WebAssembly and its glue in target/glue, which the face is written against
// Only what changed is built again.
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { SetupError, fail, isMain, root, run, runQuietly } from "./lib/machine.mjs";
import { ordered } from "./lib/order-wasm.mjs";
import { packed } from "./lib/pack-wasm.mjs";
import { partTable } from "./lib/part-table.mjs";
import { buildStdEnv } from "./lib/rust.mjs";
import { split } from "./lib/split-wasm.mjs";
import { trimmed } from "./lib/trim-wasm.mjs";
import { withImports } from "./lib/wasm-binary.mjs";
import { bare } from "./lib/wasm-module.mjs";
import { setup } from "./setup.mjs";

const glue = join(root, "target/glue");
const dist = join(root, "dist");
/** The engine with the names of its functions, for the split and for who looks at its size. */
const named = join(root, "target/looplet.named.wasm");
const require = createRequire(join(root, "package.json"));

/** Builds what is out of date. `dev` and `glueOnly` as above; `machine` is what `setup` returned. */
export async function build({ dev = false, glueOnly = false, machine } = {}) {
  const startedMs = Date.now();
  machine ??= await setup({ browser: false });
  const wasm = await compile(machine, dev);
  await bind(machine, wasm, dev);
  await embed(dev);
  if (!glueOnly) {
    await bundle(dev);
    await emitTypes();
  }
  console.log(
    `Built ${glueOnly ? "target/glue" : "dist"}${dev ? " for development" : ""} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`,
  );
}

async function compile({ rust, env }, dev) {
  const profile = dev ? "wasm-dev" : "release";
  const args = ["build", "--lib", "--target", "wasm32-unknown-unknown", "--profile", profile];
  if (!dev) args.push("-Zbuild-std=std,panic_unwind", "-Zbuild-std-features=optimize_for_size,panic-unwind");
  // Release and development have flags of their own: in one folder each would discard the other's work.
  const folder = join(process.env.CARGO_TARGET_DIR || join(root, "target"), dev ? "" : "dist");
  const built = await run(join(rust.bin, "cargo"), [...args, "--target-dir", folder], {
    env: dev ? env : { ...env, ...buildStdEnv(rust, { small: true }) },
  });
  if (built.code !== 0) throw new SetupError("The crate does not compile.");
  return join(folder, "wasm32-unknown-unknown", profile, "looplet.wasm");
}

async function bind({ env }, wasm, dev) {
  const { "wasm-bindgen-cli": version } = JSON.parse(
    readFileSync(join(root, "scripts/versions.json"), "utf8"),
  );
  const ours = [
    "scripts/build.mjs",
    ...libs("trim-wasm", "order-wasm", "pack-wasm", "wasm-binary", "wasm-module"),
  ];
  if (isFresh("glue", [wasm, ...ours], `${dev} ${version}`)) return;
  rmSync(glue, { recursive: true, force: true });
  const args = ["--target", "web", "--omit-default-module-path", "--out-dir", glue, "--out-name", "looplet"];
  // The names of functions tell the parts: they stay until the engine is split.
  if (!dev) args.push("--remove-producers-section");
  await runQuietly("wasm-bindgen", "wasm-bindgen", [...args, dev ? wasm : trim(wasm)], { env });
  const file = join(glue, "looplet_bg.wasm");
  if (!dev) shortenImports(file, join(glue, "looplet.js"));
  showExports();
  if (!dev) await optimise(file);
  cpSync(file, named);
  if (!dev) writeFileSync(file, ordered(bare(readFileSync(file))));
  writeFileSync(join(glue, "length.js"), `export default ${readFileSync(file).length};\n`);
  writeFileSync(join(glue, "length.d.ts"), "declare const wasmBytes: number;\nexport default wasmBytes;\n");
  markFresh("glue");
}

/**
 * Writes the modules that carry the engine: `inline.js` all of it, `primary.js` what every run needs, and one for each
 * part that is loaded when a run needs it.
 */
async function embed(dev) {
  const ours = libs(
    "split-wasm",
    "assign-parts",
    "part-table",
    "order-wasm",
    "pack-wasm",
    "wasm-binary",
    "wasm-module",
  );
  const text = join(root, "src/face/join.wat");
  if (isFresh("parts", [named, text, join(root, "scripts/build.mjs"), ...ours], `${dev}`)) return;
  const joiner = join(glue, "join.wasm");
  // Its functions are inlined, because it is not optimised when it runs.
  await runQuietly("wasm-opt", process.execPath, [
    join(root, "node_modules/binaryen/bin/wasm-opt"),
    "-O4",
    "--flexible-inline-max-function-size=30",
    "--enable-bulk-memory",
    text,
    "-o",
    joiner,
  ]);
  const wasm = readFileSync(join(glue, "looplet_bg.wasm"));
  const { primary, parts, lentAt } = dev
    ? { primary: wasm, parts: {}, lentAt: 0 }
    : split(readFileSync(named), partTable, console.log);
  const small = (bytes) => (dev ? bytes : ordered(bytes));
  const quick = async (bytes) => gzipSync(bytes, { level: 9 });
  const carry = async (name, constant, bytes, more, pack = dev ? quick : zopfli) => {
    const constants = { ...more, [constant]: await pack(packed(bytes)) };
    const entries = Object.entries(constants).map(([key, value]) => [
      key,
      JSON.stringify(value.toString("base64")),
    ]);
    writeFileSync(
      join(glue, `${name}.js`),
      entries.map(([key, value]) => `export const ${key} = ${value};\n`).join(""),
    );
    writeFileSync(
      join(glue, `${name}.d.ts`),
      entries.map(([key]) => `export declare const ${key}: string;\n`).join(""),
    );
  };
  const joins = { joiner: readFileSync(joiner) };
  await Promise.all([
    // Read from the disk of a server, if at all.
    carry("inline", "engine", wasm, joins, quick),
    carry("primary", "engine", small(primary), joins),
    ...Object.entries(parts).map(([name, bytes]) => carry(`part-${name}`, "part", small(bytes), {})),
  ]);
  const files = Object.keys(parts).map((name) => `  ${name}: () => import("./part-${name}.js"),\n`);
  writeFileSync(
    join(glue, "parts.js"),
    `export const lentAt = ${lentAt};\nexport const files = {\n${files.join("")}};\n`,
  );
  writeFileSync(
    join(glue, "parts.d.ts"),
    "export declare const lentAt: number;\nexport declare const files: { [part: string]: () => Promise<{ part: string }> };\n",
  );
  markFresh("parts");
}

function libs(...names) {
  return names.map((name) => join(root, `scripts/lib/${name}.mjs`));
}

/** As gzip, up to a tenth smaller than zlib's best. A block for each kind of bytes, however many there are. */
async function zopfli(bytes) {
  const { gzipAsync } = require("@gfx/zopfli");
  return Buffer.from(await gzipAsync(bytes, { numiterations: 15, blocksplittingmax: 0 }));
}

// After a trap the glue instantiates the engine anew: what is the instance's own is asked of it each time.
function showExports() {
  appendFileSync(join(glue, "looplet.js"), "export const instanceExports = () => wasm;\n");
  appendFileSync(
    join(glue, "looplet.d.ts"),
    "/** What the present instance exports. */\nexport function instanceExports(): WebAssembly.Exports;\n",
  );
}

// The shell's functions and those of the crates under it: what they hold must be released when a panic passes.
const keepsPads = /shell|wasm_bindgen|js_sys|web_sys|gloo|RefCell|Cs\w+?_3std/;

// The hashes in the names of imports are for several crates' glue in one file, and do not compress.
function shortenImports(file, script) {
  let source = readFileSync(script, "utf8");
  if (source.includes("makeMutClosure"))
    throw new SetupError("A closure crosses the boundary: see `isDead` in scripts/build.mjs.");
  const taken = new Map();
  const rename = (name) => {
    const plain = name.replace(/_[0-9a-f]{16}$/, "");
    if (plain === name) return name;
    const count = (taken.get(plain) ?? 0) + 1;
    taken.set(plain, count);
    const short = count === 1 ? plain : `${plain}_${count}`;
    source = source.replaceAll(name, short);
    return short;
  };
  writeFileSync(file, withImports(readFileSync(file), rename));
  writeFileSync(script, source);
}

// No closure crosses the boundary, which `shortenImports` makes sure of, so nothing calls what would call one. By the start of its
// name: what is generic over its types may be one with a function that is called.
const deadClosures = /^_RI(Nv)+(Nt)+Cs[0-9A-Za-z]+_12wasm_bindgen7convert8closures[0-9a-z_]*6invoke/;

// Only panics format: what else does so (`format!`, `to_string`) fails the build here. Their texts without values are not
// formatted, and `as_str` finds them.
const silent = /12PanicMessageN\w*7Display3fmt/;
const formatting = /4core3fmt|4core4cell\w*(BorrowError|BorrowMutError)N\w*7Display3fmt/;
const isDead = (name) =>
  deadClosures.test(name) ||
  (formatting.test(name) && !silent.test(name) && !/9Arguments(6as_str|23as_statically)/.test(name));

function trim(file) {
  const { wasm, stripped } = trimmed(readFileSync(file), {
    keepsPads: (name) => keepsPads.test(name),
    isDead,
    isSilent: (name) => silent.test(name),
  });
  if (stripped === 0)
    throw new SetupError("No landing pads were found: have the names of functions changed?");
  const path = join(root, "target/looplet.wasm");
  writeFileSync(path, wasm);
  return path;
}

// What is smaller is not always smaller compressed: each of these is tried. Rust's order of functions puts like beside
// like, and rustc has inlined already.
const left = ["reorder-functions", "inlining-optimizing", "simplify-locals"].map(
  (name) => `--skip-pass=${name}`,
);
const passes = ["-Oz", "-Os", "-O3"].map((level) => [level, ...left]);

// The features are those of rustc's target: detected from the file, wasm-opt would take all or none.
async function optimise(file) {
  const features = [
    "bulk-memory",
    "exception-handling",
    "multivalue",
    "mutable-globals",
    "nontrapping-float-to-int",
    "reference-types",
    "sign-ext",
  ];
  const sizeOf = (path) => gzipSync(packed(bare(readFileSync(path))), { level: 9 }).length;
  const before = sizeOf(file);
  const tried = await Promise.all(
    passes.map(async (args, index) => {
      const path = `${file}.${index}`;
      const all = [
        ...args,
        "--debuginfo",
        "--mvp-features",
        ...features.map((name) => `--enable-${name}`),
        file,
        "-o",
        path,
      ];
      await runQuietly("wasm-opt", process.execPath, [
        join(root, "node_modules/binaryen/bin/wasm-opt"),
        ...all,
      ]);
      return { path, size: sizeOf(path) };
    }),
  );
  const best = tried.reduce((one, other) => (other.size < one.size ? other : one));
  if (best.size < before) cpSync(best.path, file);
  for (const { path } of tried) rmSync(path);
  console.log(`wasm-opt: ${before} → ${best.size} bytes gzip, ${best.size < before ? "taken" : "left out"}`);
}

async function bundle(dev) {
  const { build: esbuild } = require("esbuild");
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) if (name !== "types") rmSync(join(dist, name), { recursive: true });
  const entries = ["default", "node", "workerd", "edge", "slim"].map((name) => [
    name,
    `src/face/entry/${name}.ts`,
  ]);
  entries.push(["practice", "src/face/practice/index.ts"], ["errors", "src/face/api/errors.ts"]);
  const options = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["node:*", "*.wasm", "*.wasm?module"],
    minify: !dev,
    sourcemap: dev ? "inline" : false,
    chunkNames: "chunks/[name]-[hash]",
    legalComments: "none",
    logLevel: "warning",
  };
  // What the models share with the rest they bring along, except the errors, which `instanceof` must know: as a chunk of
  // its own it would compress worse for everybody (0.8 kB).
  const errors = {
    name: "errors",
    setup: (at) => at.onResolve({ filter: /\/errors\.js$/ }, () => ({ path: "./errors.js", external: true })),
  };
  const models = {
    models: "src/face/models/in-page/index.ts",
    vendors: "src/face/models/vendors.ts",
    prices: "src/face/models/prices.ts",
    trace: "src/face/trace/index.ts",
    presets: "src/face/presets.ts",
  };
  await Promise.all([
    esbuild({ ...options, entryPoints: Object.fromEntries(entries) }),
    // Their chunks lie beside them: from a folder below, `./errors.js` would lead nowhere.
    esbuild({ ...options, entryPoints: models, plugins: [errors], chunkNames: "[name]-[hash]" }),
  ]).catch(() => {
    throw new SetupError("The face does not bundle.");
  });
  cpSync(join(glue, "looplet_bg.wasm"), join(dist, "looplet.wasm"));
}

async function emitTypes() {
  const types = join(dist, "types");
  if (
    isFresh("types", [
      ...filesUnder(join(root, "src/face")),
      join(glue, "looplet.d.ts"),
      join(root, "tsconfig.json"),
    ]) &&
    existsSync(types)
  )
    return;
  rmSync(types, { recursive: true, force: true });
  await runQuietly("tsc", process.execPath, [
    require.resolve("typescript/bin/tsc"),
    "-p",
    "tsconfig.types.json",
  ]);
  markFresh("types");
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

// A stamp holds the hash of what a step was made from; it is written after the step.
const seen = {};
const stamp = (name) => join(root, "target", `${name}.stamp`);

function isFresh(name, files, more = "") {
  const hash = createHash("sha256").update(more);
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(file));
  seen[name] = hash.digest("hex");
  return (
    existsSync(stamp(name)) &&
    readFileSync(stamp(name), "utf8") === seen[name] &&
    existsSync(join(glue, { glue: "length.js", parts: "parts.js" }[name] ?? ""))
  );
}

function markFresh(name) {
  writeFileSync(stamp(name), seen[name]);
}

if (isMain(import.meta.url))
  await build({ dev: process.argv.includes("--dev"), glueOnly: process.argv.includes("--glue-only") }).catch(
    fail,
  );
