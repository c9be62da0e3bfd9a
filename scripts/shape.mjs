// The shape of the sources: no long file, no wide comment, no full folder, no circle of imports, and plain words in
// comments and documentation. `npm run lint` calls it.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMain, output, root } from "./lib/machine.mjs";

const maxLines = 500;
const maxFiles = 15;
const maxColumns = 118;

/**
 * Words that make a reader stop, where a common one says the same: "continues" for "goes on", "again" for "anew",
 * "emits" for "tells". A few uses are right ("if there is none"), so each room has a number, which only ever falls.
 */
const unclear =
  /\b(goes on|go on|stands|anew|told|tells|nobody|somebody|alone|beside|is none|for good|hears|heard|of its own|by itself|in vain|word for word)\b/gi;
const maxUnclear = {
  docs: 14,
  "src/engine": 1,
  "src/typescript/compat": 6,
  "src/typescript/core": 11,
  "src/typescript/extras": 5,
  "src/typescript/lab": 8,
  "src/typescript/server": 4,
  "src/typescript/ui": 2,
};

/** Prints the violations, and returns whether there are none. For circles, prints the files and folders in them. */
export async function checkShape() {
  const found = {
    "long files": longFiles(),
    "wide comments": wideComments(),
    "full folders": fullFolders(),
    "rooms with unclear words": unclearWords(),
    "circles of TypeScript": inCircles(await valueImports()),
    "circles of the engine": inCircles(engineFolders()),
  };
  let ok = true;
  for (const [check, wrong] of Object.entries(found)) {
    ok &&= wrong.length === 0;
    if (wrong.length > 0) console.log(`  ${wrong.join("\n  ")}`);
    console.log(`${wrong.length === 0 ? "✓" : "✗"} ${check}: ${wrong.length}`);
  }
  return ok;
}

/** The files of the repository and those that will be, but for what is generated. */
const kept = () =>
  output("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root })
    .split("\n")
    .filter((path) => existsSync(join(root, path)) && !path.includes("/generated/"));

/** The lines of each source, by its path. */
const sources = () =>
  kept()
    .filter((path) =>
      /^(src|crates|tests|fuzz|scripts|bench|examples|www)\/.*\.(rs|ts|tsx|mjs|js|css|html)$/.test(path),
    )
    .map((path) => [path, readFileSync(join(root, path), "utf8").split("\n")]);

function longFiles() {
  return sources()
    .filter(([, lines]) => lines.length - 1 > maxLines)
    .map(([path, lines]) => `${path} has ${lines.length - 1} lines, more than ${maxLines}: split it by noun`);
}

/** A link has the width that it has, and so have tables and drawings. */
function wideComments() {
  const prose = /^\s*(?:\/\/[/!]?|\*) (?![ |])(?!.*https?:)/;
  return sources().flatMap(([path, lines]) =>
    lines
      .map((line, at) => [line, at + 1])
      .filter(([line]) => line.length > maxColumns && prose.test(line))
      .map(([, at]) => `${path}:${at} is a comment of more than ${maxColumns} columns`),
  );
}

/** Rooms whose comments or documentation have more unclear words than their number. A wing of the TypeScript is one. */
function unclearWords() {
  const roomOf = (path) => /^src\/typescript\/\w+|^src\/\w+|^\w+/.exec(path)[0];
  const counts = new Map();
  const count = (path, text) => {
    const found = text.match(unclear)?.length ?? 0;
    counts.set(roomOf(path), (counts.get(roomOf(path)) ?? 0) + found);
  };
  const isComment = (line) => /^\s*(\/\/|\*|\/\*\*)/.test(line);
  for (const [path, lines] of sources())
    if (/^(src|crates)\//.test(path)) count(path, lines.filter(isComment).join("\n"));
  for (const path of kept())
    if (/^(docs\/.*|src\/.*|[A-Z]+)\.md$/.test(path)) count(path, readFileSync(join(root, path), "utf8"));
  return [...counts]
    .filter(([room, count]) => count > (maxUnclear[room] ?? 0))
    .map(
      ([room, count]) =>
        `${room} has ${count} words that make a reader stop, more than ${maxUnclear[room] ?? 0}`,
    );
}

function fullFolders() {
  const counts = new Map();
  for (const path of kept().filter((path) => /^(src|crates)\//.test(path)))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > maxFiles)
    .map(([folder, count]) => `${folder} has ${count} files, more than ${maxFiles}`);
}

/** Which file of the TypeScript imports which, as values: esbuild drops imports of types. */
async function valueImports() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entryPoints = Object.values(exports)
    .map(({ types }) => types?.replace("./dist/types", "src/typescript").replace(/\.d\.ts$/, ".ts"))
    .filter((source) => source !== undefined && !source.includes("*"));
  // Set-up may have just installed it.
  const { build } = await import("esbuild");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      ...entryPoints,
      ...["node", "workerd", "edge"].map((name) => `src/typescript/core/entry/${name}.ts`),
    ],
    outdir: "none",
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
    external: ["looplet", "node:*", "*.wasm", "*.wasm?module", "yaml"],
  });
  return new Map(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [
      path,
      imports.filter(({ external }) => !external).map((one) => one.path),
    ]),
  );
}

/** Which folder of the engine uses which. A file next to the folders counts as a folder. */
function engineFolders() {
  const files = kept().filter((path) => /^src\/engine\/.*\.rs$/.test(path));
  const roomOf = (path) => path.split("/")[2].replace(/\.rs$/, "");
  const rooms = new Set(files.map(roomOf));
  const uses = new Map([...rooms].map((room) => [room, new Set()]));
  for (const path of files) {
    const room = roomOf(path);
    // Tests may look at everything, and a link of a comment uses nothing.
    if (/\/tests(\.rs$|\/)/.test(path)) continue;
    const [text] = readFileSync(join(root, path), "utf8").split(/#\[cfg\(test\)\]\n(?:#\[.*\]\n)?mod /);
    const code = text.replace(/^\s*\/\/.*$/gm, "");
    // As many `super` as lead out of the room.
    const depth = path.split("/").length - (basename(path) === "mod.rs" ? 3 : 2);
    const used = new RegExp(`(?:crate::engine::|(?<!super::)(?:super::){${depth}})(\\w+)`, "g");
    for (const [, name] of code.matchAll(used))
      if (rooms.has(name) && name !== room) uses.get(room).add(name);
  }
  uses.delete("mod");
  return uses;
}

/** Nodes that lead back to themselves. */
function inCircles(graph) {
  const reaches = (from) => {
    const seen = new Set();
    const left = [...(graph.get(from) ?? [])];
    for (let next; (next = left.pop()) !== undefined;)
      if (!seen.has(next)) left.push(...(graph.get(seen.add(next) && next) ?? []));
    return seen;
  };
  return [...graph.keys()].filter((node) => reaches(node).has(node)).map((node) => `${node} is in a circle`);
}

if (isMain(import.meta.url)) process.exitCode = (await checkShape()) ? 0 : 1;
