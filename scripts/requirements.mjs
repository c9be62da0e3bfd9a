// Which test stands for which requirement.
//   node scripts/requirements.mjs            checks tests/REQUIREMENTS against the tests, and that no id is missing
//   node scripts/requirements.mjs --write    writes it
// An id stands in a test's name (Rust: `fn s003_22_…`; elsewhere "S003-22: …") or in a string of a table's row. What the
// requirements are stands in ../shared/REQUIREMENTS.md (or LOOPLET_SHARED), sections 1.0 to 1.4, and P-14 to P-25; where
// that file is not at hand, the list of them that the map keeps counts.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isMain, root } from "./lib/machine.mjs";

const map = join(root, "tests/REQUIREMENTS");

/** What other packages of work will bring, and what nothing could test. */
export const outOfScope = [
  [
    "the facade agentLoop and its own names of arguments, callbacks and results",
    ["S000-02", "S000-11", "S000-24"],
  ],
  ["a server's event stream, an adapter", ["S000-13"]],
  [
    "the facade query and its stream of messages",
    [
      "S001-01",
      "S001-02",
      "S001-03",
      "S001-04",
      "S001-05",
      "S001-06",
      "S001-07",
      "S001-08",
      "S001-14",
      "S001-15",
      "S001-51",
    ],
  ],
  ["built-in tools", ["S001-33"]],
  ["MCP servers and skills", ["S001-34"]],
  ["ToolSearch", ["S001-35"]],
  ["sessions and their stores", ["S001-44"]],
  ["the facade runSession and its exported pieces", ["S002-01", "S002-03", "S002-20"]],
  ["checkpoints and stores", ["S003-07", "S003-16"]],
  ["a remark, nothing to test", ["S003-27"]],
  ["the facade turn, its stream and its executors", ["S004-01", "S004-15", "S004-16"]],
  [".prompty files", ["S004-04", "S004-05", "S004-06", "S004-23"]],
];

/** @returns {boolean} whether the map is up to date and complete */
export function checkRequirements({ write = false } = {}) {
  const found = testsById();
  const before = existsSync(map) ? readFileSync(map, "utf8") : "";
  const wanted = wantedIds() ?? idsInMap(before);
  const excluded = new Set(outOfScope.flatMap(([, ids]) => ids));
  const inScope = wanted.filter((id) => !excluded.has(id));
  const text = written(found, inScope);
  if (write) writeFileSync(map, text);
  const isFresh = write || before === text;
  if (!isFresh) console.log("tests/REQUIREMENTS is out of date: node scripts/requirements.mjs --write");
  const missing = inScope.filter((id) => !found.has(id));
  for (const id of missing) console.log(`${id} has no test whose name or row carries it`);
  const stray = [...found.keys()].filter((id) => id.startsWith("S") && !wanted.includes(id));
  for (const id of stray) console.log(`${id} stands in a test but is no requirement: ${found.get(id)[0]}`);
  const unknown = [...excluded].filter((id) => !wanted.includes(id));
  for (const id of unknown) console.log(`${id} is left out but is no requirement`);
  const ok = isFresh && missing.length + stray.length + unknown.length === 0;
  console.log(
    `${ok ? "✓" : "✗"} requirements: ${inScope.length - missing.length} of ${inScope.length} in scope have tests, ${excluded.size} are out of scope`,
  );
  return ok;
}

/** Every id of the requirements' tables, or nothing where they are not at hand. */
function wantedIds() {
  const file = join(process.env.LOOPLET_SHARED || join(root, "../shared"), "REQUIREMENTS.md");
  if (!existsSync(file)) return undefined;
  return [...readFileSync(file, "utf8").matchAll(/^\| (S00[0-4]-\d\d|P-1[4-9]|P-2[0-5]) \|/gm)].map(
    ([, id]) => id,
  );
}

const IN_SCOPE = "# In scope";

/** What the map says that the requirements are. */
export function idsInMap(text) {
  const [, listed = ""] = text.split(new RegExp(`^${IN_SCOPE}$`, "m"));
  const excluded = outOfScope.flatMap(([, ids]) => ids);
  return [...(listed.split(/^#/m)[0].match(/\b(?:S00\d|P)-\d\d\b/g) ?? []), ...excluded];
}

function written(found, inScope) {
  const lines = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  const excluded = outOfScope.flatMap(([reason, ids]) => ids.map((id) => `${id}  ${reason}`));
  return [
    "# Which test stands for which requirement. Written by node scripts/requirements.mjs --write",
    ...lines.flatMap(([id, tests]) => [...new Set(tests)].sort().map((test) => `${id}  ${test}`)),
    "",
    IN_SCOPE,
    ...inScope.sort().reduce((rows, id, at) => {
      if (at % 12 === 0) rows.push(id);
      else rows.push(`${rows.pop()} ${id}`);
      return rows;
    }, []),
    "",
    "# Out of scope",
    ...excluded.sort(),
    "",
  ].join("\n");
}

function testsById() {
  const found = new Map();
  for (const file of testFiles()) {
    const path = relative(root, file);
    for (const [id, name] of idsIn(readFileSync(file, "utf8"), file.endsWith(".rs")))
      found.set(id, [...(found.get(id) ?? []), `${path}: ${name}`]);
  }
  return found;
}

/** The ids in a test file's names and strings, each with the name or the string. */
export function idsIn(text, isRust) {
  const source = withoutComments(text);
  const ids = [];
  if (isRust)
    for (const [, name] of source.matchAll(/\bfn ((?:(?:s00\d|[ipx])_\d\d_)+\w+)/g))
      for (const [, kind, number] of /^(?:(?:s00\d|[ipx])_\d\d_)+/
        .exec(name)[0]
        .matchAll(/(s00\d|[ipx])_(\d\d)_/g))
        ids.push([`${kind.toUpperCase()}-${number}`, name]);
  for (const [, , text] of source.matchAll(/(["`])((?:\\.|(?!\1)[^\\\n])*)\1/g))
    for (const [id] of text.matchAll(/\b(?:S00\d|[IPX])-\d\d\b/g)) ids.push([id, nameOf(text)]);
  return ids;
}

const nameOf = (text) => (text.length > 120 ? `${text.slice(0, 117)}...` : text);

/** Line comments on lines of their own, and blocks: an id in a comment is no test. */
function withoutComments(source) {
  return source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
}

/** Rust's tests stand beside the code and in tests/; what is no test file has no ids in its strings. */
function testFiles() {
  const folders = ["src/engine", "tests"];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.rs$|\.test\.(?:ts|mjs)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return files.sort();
}

if (isMain(import.meta.url))
  process.exitCode = checkRequirements({ write: process.argv.includes("--write") }) ? 0 : 1;
