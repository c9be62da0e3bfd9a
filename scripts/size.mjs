// What a browser downloads: the engine that loads in parallel, the part that a page waits for with a splitting
// bundler, all of `looplet` in one file, the JavaScript of a minimal agent, and the tarball that npm downloads.
// Prints raw, gzip and brotli bytes, and fails above a gate. `npm run bench:sizes` has the peers.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { isMain, output, root } from "./lib/machine.mjs";

/** Column and bytes: what has been reached plus 2 %; below, what is wanted. */
const gates = {
  // 437 kB of it are the engine, 1.2 kB more than before usage had facts of its own in the journal. 0.4 kB choose
  // between the file and the text.
  oneFile: [2, 520_000],
  minimal: [0, 151_000],
  // The fold of events added 1.2 kB: it serves readers with gaps, which looplet/ui did not.
  screen: [2, 16_000],
  // 1.8 kB of it complete the log of a session after a crash. A lazily loaded module would be missing in `simulate`,
  // because its virtual time does not wait for it.
  server: [2, 19_400],
  devtools: [2, 60_000],
  // The engine is in it twice, as a file and as text: 1.2 MB.
  tarball: [1, 2_160_000],
};
const targets = {
  oneFile: 340_000,
  minimal: 75_000,
  screen: 12_000,
  server: 12_000,
  devtools: 60_000,
  tarball: 1_500_000,
};

/** The subpaths of a screen, and what a page imports of each: it must be small without its peers. */
const screens = { ui: "*", react: "*", "ai-sdk": "{ LoopletChatTransport, isAnswered }" };

/** Prints the table and returns whether the package is within its limits. */
export async function checkSize() {
  print("", ["raw", "gzip -9", "brotli", "gate", "wanted"]);
  print("looplet.wasm", sizes(readFileSync(join(root, "dist/looplet.wasm"))));
  print("a page by Vite, before its engine", sizes(await split()));
  const all = await bundled('export * from "./dist/default.js";');
  const minimal = await bundled(
    'import { createAgent, tool, anthropic } from "./dist/external.js"; globalThis.used = [createAgent, tool, anthropic];',
  );
  const results = [
    gated("oneFile", "all of looplet in one file", sizes(all)),
    gated("minimal", "JavaScript of a minimal agent", sizes(minimal)),
  ];
  for (const [name, names] of Object.entries(screens)) {
    const own = await bundled(`export ${names} from "./dist/${name}.js";`, [withoutLater]);
    results.push(gated("screen", `looplet/${name}`, sizes(own)));
  }
  const server = await bundled('export * from "./dist/server.js";', [withoutLater]);
  results.push(gated("server", "looplet/server", sizes(server)));
  const devtools = await bundled('export * from "./dist/devtools.js";');
  results.push(gated("devtools", "looplet/devtools", sizes(devtools)));
  const [tarball] = Object.values(JSON.parse(output("npm", ["pack", "--dry-run", "--json"], { cwd: root })));
  results.push(gated("tarball", "the tarball", [tarball.unpackedSize, tarball.size, 0]));
  return results.every((isWithin) => isWithin);
}

function gated(row, name, counts) {
  const [column, gate] = gates[row];
  const isWithin = counts[column] <= gate;
  print(`${isWithin ? "✓" : "✗"} ${name}`, [...counts, gate, targets[row]]);
  return isWithin;
}

/**
 * Leaves out what is loaded when it is needed: the connection of a component that names an address, and what reads a
 * journal for a log after a crash.
 */
const withoutLater = {
  name: "without-later",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind }) => (kind === "dynamic-import" ? { external: true } : null));
  },
};

/** The bundle of a page with these imports, minified. */
async function bundled(contents, plugins = []) {
  // Set-up may have just installed it.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    plugins,
    external: Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).peerDependencies),
    logLevel: "error",
  });
  return outputFiles[0].contents;
}

/** The first file of a page with all of `looplet`, as Vite makes it. It streams `looplet.wasm`. */
async function split() {
  const { build } = await import("vite");
  const entry = join(root, "dist/page.js");
  const { output } = await build({
    root,
    configFile: false,
    logLevel: "error",
    plugins: [
      {
        name: "page",
        load: (id) => (id === entry ? 'export * from "./default.js";' : null),
        resolveId: (id) => (id === entry ? id : null),
      },
    ],
    build: { write: false, rollupOptions: { input: entry, preserveEntrySignatures: "strict" } },
  });
  return Buffer.from(output.find(({ type }) => type === "chunk").code);
}

function sizes(bytes) {
  return [bytes, gzipSync(bytes, { level: 9 }), brotliCompressSync(bytes)].map(({ length }) => length);
}

function print(name, numbers) {
  console.log(name.padEnd(34) + numbers.map((n) => String(n).padStart(9)).join(""));
}

if (isMain(import.meta.url)) {
  if (!existsSync(join(root, "dist/external.js"))) throw new Error("node scripts/build.mjs comes first");
  process.exitCode = (await checkSize()) ? 0 : 1;
}
