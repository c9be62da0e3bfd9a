// Builds the npm package into dist/.
//   node scripts/build.mjs               as published: fat LTO, one pass of wasm-opt, minified
//   node scripts/build.mjs --dev         quick, for work on the code: unoptimised, with source maps
//   node scripts/build.mjs --glue-only   only the WebAssembly and its glue in target/glue, which the TypeScript is written against
// Only what changed is built again.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SetupError, fail, isMain, root, run, runQuietly, versions } from "./lib/machine.mjs";
import { saveBundled, writeNotices } from "./notices.mjs";
import { setup } from "./setup.mjs";

const glue = join(root, "target/glue");
const dist = join(root, "dist");
const require = createRequire(join(root, "package.json"));

/** Builds what is out of date. `dev` and `glueOnly` as above; `machine` is what `setup` returned. */
export async function build({ dev = false, glueOnly = false, machine } = {}) {
  const startedMs = Date.now();
  machine ??= await setup();
  await bind(machine, await compile(machine, dev), dev);
  if (!glueOnly) {
    await bundle(dev);
    writeNotices(machine);
    await emitTypes();
  }
  console.log(
    `Built ${glueOnly ? "target/glue" : "dist"}${dev ? " for development" : ""} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`,
  );
}

async function compile({ rust, env }, dev) {
  const profile = dev ? "wasm-dev" : "release";
  const args = ["build", "--lib", "--target", "wasm32-unknown-unknown", "--profile", profile];
  const built = await run(join(rust.bin, "cargo"), args, { env });
  if (built.code !== 0) throw new SetupError("The crate does not compile.");
  const target = process.env.CARGO_TARGET_DIR || join(root, "target");
  return join(target, "wasm32-unknown-unknown", profile, "looplet.wasm");
}

// Merged functions compress badly: a caller that takes in its only callee numbers all locals of both anew. V8 also
// compiles function by function, at the first call.
const sizing = ["-Oz", "--one-caller-inline-max-function-size=0"];
// rustc's features of the target: detected from the file, wasm-opt would take all or none.
const features =
  "bulk-memory multivalue mutable-globals nontrapping-float-to-int reference-types sign-ext".split(" ");

async function bind({ env }, wasm, dev) {
  const made = [wasm, join(root, "scripts/build.mjs")];
  if (isFresh("glue", made, `${dev} ${versions["wasm-bindgen-cli"]}`)) return;
  rmSync(glue, { recursive: true, force: true });
  const args = ["--target", "web", "--omit-default-module-path", "--experimental-reset-state-function"];
  if (!dev) args.push("--remove-producers-section", "--remove-name-section");
  await runQuietly(
    "wasm-bindgen",
    "wasm-bindgen",
    [...args, "--out-dir", glue, "--out-name", "looplet", wasm],
    {
      env,
    },
  );
  // A field that other code adds to the prototype of every object must not become part of a descriptor.
  const script = join(glue, "looplet.js");
  const descriptor = /(defineProperty\([^;]*?, )\{ value:/g;
  writeFileSync(script, readFileSync(script, "utf8").replace(descriptor, "$1{ __proto__: null, value:"));
  const file = join(glue, "looplet_bg.wasm");
  if (!dev) {
    const wasmOpt = join(root, "node_modules/binaryen/bin/wasm-opt");
    const flags = [...sizing, "--mvp-features", ...features.map((name) => `--enable-${name}`)];
    await runQuietly("wasm-opt", process.execPath, [wasmOpt, ...flags, file, "-o", file]);
  }
  const bytes = readFileSync(file);
  // A letter for each byte: src/typescript/core/host/text-bytes.ts says why.
  const constants = { inline: ["wasm", bytes.toString("latin1")], length: ["wasmBytes", bytes.length] };
  for (const [module, [name, value]] of Object.entries(constants)) {
    writeFileSync(join(glue, `${module}.js`), `export const ${name} = ${JSON.stringify(value)};\n`);
    writeFileSync(join(glue, `${module}.d.ts`), `export declare const ${name}: ${typeof value};\n`);
  }
  markFresh("glue");
}

async function bundle(dev) {
  const { rolldown } = await import("rolldown");
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) if (name !== "types") rmSync(join(dist, name), { recursive: true });
  const { exports, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const peers = Object.keys(peerDependencies).map((peer) => new RegExp(`^${peer}(/|$)`));
  try {
    const bundle = await rolldown({
      cwd: root,
      input: entryPoints(exports),
      platform: "neutral",
      transform: { target: "es2022" },
      // Peers stay imports of the subpaths that need them. A facade imports `looplet` by its name: the conditions of
      // that find the engine.
      external: ["looplet", /^node:/, /\.wasm(\?module)?$/, ...peers],
      makeAbsoluteExternalsRelative: false,
      plugins: [shortSource, !dev && minified],
    });
    const { output } = await bundle.write({
      dir: dist,
      // Those of a release are no part of the package: with its sources they are larger than the code.
      sourcemap: dev ? "inline" : "hidden",
      chunkFileNames: "chunks/[name]-[hash].js",
      codeSplitting: { groups: chunks },
      minify: false,
      minifyInternalExports: false,
    });
    await bundle.close();
    saveBundled(output.flatMap(({ moduleIds = [] }) => moduleIds));
  } catch (error) {
    throw new SetupError(`The TypeScript does not bundle: ${error.message}`);
  }
  cpSync(join(glue, "looplet_bg.wasm"), join(dist, "looplet.wasm"));
  writeExtension();
}

/** The extension is the folder dist itself, so that it has the engine and the element without a copy. */
function writeExtension() {
  const source = join(root, "src/extension");
  for (const name of ["devtools.html", "panel.html", "panel.css"])
    cpSync(join(source, name), join(dist, "extension", name));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(source, "manifest.json"), "utf8"));
  writeFileSync(join(dist, "manifest.json"), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}

// The source of each file in dist. That of a subpath is where its types come from, but for the entries. A facade that
// runs the engine has one more, without the engine.
function entryPoints(exports) {
  const entries = ["default", "inline", "node", "workerd", "edge", "external"];
  const sources = entries.map((name) => [name, `src/typescript/core/entry/${name}.ts`]);
  sources.push(["cli", "src/cli/main.ts"], ["devtools/page", "src/typescript/lab/devtools/served/page.ts"]);
  for (const name of ["background", "content", "devtools", "panel"])
    sources.push([`extension/${name}`, `src/extension/${name}.ts`]);
  for (const name of readdirSync(join(root, "src/typescript/compat"))) {
    const source = `src/typescript/compat/${name}/external.ts`;
    if (existsSync(join(root, source))) sources.push([`external/${name}`, source]);
  }
  for (const { types, default: file } of Object.values(exports)) {
    const name = file?.match(/^\.\/dist\/([\w/-]+)\.js$/)?.[1];
    if (name === undefined || entries.includes(name)) continue;
    sources.push([name, types.replace("./dist/types", "src/typescript").replace(/\.d\.ts$/, ".ts")]);
  }
  return Object.fromEntries(sources);
}

// The core has few files, because Node takes a millisecond for each. A bundler includes a whole file if it needs a
// part and cannot prove that the rest has no side effects: tables that spread others, and the glue. So these are
// separate files, and so is what is loaded lazily. Classes that are checked with `instanceof`, above all the errors,
// are in one file for all entries.
const chunks = [
  { name: "glue", test: /target[\\/]glue[\\/]looplet\.js$/ },
  {
    name: "tables",
    test: /typescript[\\/]core[\\/](generated[\\/]tables|options[\\/](options|elsewhere))\.ts$/,
  },
  { name: "core", test: /typescript[\\/]core[\\/](?!entry|tools[\\/]deferred[\\/]rank)/ },
];

// Gives the inlined engine a map of its own with a short source, because the package's source map would repeat it.
const shortSource = {
  name: "short-source",
  load: {
    filter: { id: /[\\/]glue[\\/]inline\.js$/ },
    handler: (id) => ({ code: readFileSync(id, "utf8"), map: shortMap }),
  },
};
const shortMap = {
  version: 3,
  sources: ["inline.js"],
  sourcesContent: ["// The WebAssembly of looplet, a letter for each byte.\n"],
  names: [],
  mappings: "AAAA",
};

// esbuild minifies, because it can keep lines short: Node prints the line that throws an error.
const minified = {
  name: "minified",
  async renderChunk(code) {
    const options = {
      minify: true,
      lineLimit: 400,
      target: "es2022",
      sourcemap: true,
      legalComments: "none",
    };
    const { code: smaller, map } = await require("esbuild").transform(code, options);
    return { code: smaller, map };
  },
};

async function emitTypes() {
  const types = join(dist, "types");
  const sources = readdirSync(join(root, "src/typescript"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const made = [...sources, ...["package.json", "tsconfig.json"].map((name) => join(root, name))];
  if (isFresh("types", [...made, join(glue, "looplet.d.ts")]) && existsSync(types)) return;
  rmSync(types, { recursive: true, force: true });
  const tsc = require.resolve("typescript/bin/tsc");
  await runQuietly("tsc", process.execPath, [tsc, "-p", "tsconfig.types.json"]);
  const wanted = publicTypes();
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(file)) rmSync(file);
  }
  markFresh("types");
}

/** The file with the types of each subpath that has some. */
export function typesOf() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const facades = readdirSync(join(root, "src/typescript/compat"));
  const files = Object.entries(exports).flatMap(([subpath, { types = "" }]) =>
    types.includes("*")
      ? facades.map((name) => [subpath.replace("*", name), join(root, types.replace("*", name))])
      : [[subpath, join(root, types)]],
  );
  return new Map(files.filter(([, file]) => file.endsWith(".d.ts") && existsSync(file)));
}

/** The files with types that a user's compiler reads: those of the subpaths and what they import. */
function publicTypes() {
  const { preProcessFile } = require("typescript");
  const found = new Set();
  const left = [...typesOf().values()];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const { importedFiles } = preProcessFile(readFileSync(file, "utf8"));
    const relative = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
    left.push(...relative.map((name) => join(dirname(file), name.replace(/\.js$/, ".d.ts"))));
  }
  return found;
}

// A stamp holds the hash of what a step was made from; it is written after the step.
const seen = {};
const stamp = (name) => join(root, "target", `${name}.stamp`);

function isFresh(name, files, more = "") {
  const hash = createHash("sha256").update(more);
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(file));
  seen[name] = hash.digest("hex");
  const isMade = existsSync(stamp(name)) && (name !== "glue" || existsSync(join(glue, "length.js")));
  return isMade && readFileSync(stamp(name), "utf8") === seen[name];
}

function markFresh(name) {
  writeFileSync(stamp(name), seen[name]);
}

if (isMain(import.meta.url))
  await build({ dev: process.argv.includes("--dev"), glueOnly: process.argv.includes("--glue-only") }).catch(
    fail,
  );
