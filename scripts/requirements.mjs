// Whether each requirement of tests/REQUIREMENTS is what that list says: `done` has a test in a file that imports the
// entry beside it, `owed` has none there, and a reason. An entry is what a user of the source would import; `engine`
// is a test in Rust. A test of createAgent says little of a facade, which has code of its own around it.
//   node scripts/requirements.mjs           checks the list, as `npm run lint` does
//   node scripts/requirements.mjs I-07 …    prints the tests that carry these ids
// A test carries an id in its title: `fn s003_22_i_07_equal_inputs…` under `#[test]`, or the first words of what
// `it`, `test` or their `each(…)` are given: "S003-22, I-07: equal inputs …". A row of a table carries one if its
// first string begins so or is the id: `["S000-22: sprout", …]`, `("S000-22", …)`. No other place counts: no comment,
// no describe, no message of an assertion. Their texts are in REQUIREMENTS.md of the folder of LOOPLET_SHARED, by
// default ../shared; without that file the list is only compared with the tests.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { isMain, root } from "./lib/machine.mjs";

const ID = "(?:S00[0-4]|[IPT])-\\d\\d";
const IDS = `(?:${ID}, )*${ID}`;
const RUST_TEST =
  /#\[(?:wasm_bindgen_)?test\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn ((?:(?:s00\d|[ipt])_\d\d_)+)\w+/g;
const TITLE = new RegExp(`(?:\\b(?:it|test)|\\))\\(\\s*(["'\`])(${IDS})(: (?:\\\\.|(?!\\1).)*)\\1`, "g");
const ROW = new RegExp(`(?<![\\w!)>])[[(]\\s*"(${IDS})(: [^"]*)?"`, "g");

/** The ids that a test file's titles and rows carry, each with the title or row. */
export function idsIn(text, isRust) {
  const source = text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const found = [];
  const carry = (ids, title) => ids.forEach((id) => found.push([id, title]));
  for (const [all, ids] of isRust ? source.matchAll(RUST_TEST) : [])
    carry(
      ids.match(/[a-z]\w*?_\d\d(?=_)/g).map((id) => id.toUpperCase().replace("_", "-")),
      all.match(/\w+$/)[0],
    );
  for (const [, , ids, rest] of isRust ? [] : source.matchAll(TITLE)) carry(ids.split(", "), ids + rest);
  for (const [, ids, rest = ""] of source.matchAll(ROW)) carry(ids.split(", "), ids + rest);
  return found;
}

/** The entries of the package that a test file imports. Type-only imports do not count. */
export function entriesIn(text, isRust) {
  if (isRust) return ["engine"];
  const paths = [...text.matchAll(/^import (?!type )[^;]*?"([^"]+)";|\bimport\("([^"]+)"\)/gm)];
  return paths.map(([, path, dynamic]) => {
    const [, room] =
      /\/src\/typescript\/(?:(?=core\/entry\/)|(?:extras|server|ui|lab|compat)\/([\w-]+)\/index)/.exec(
        path ?? dynamic,
      ) ?? [path ?? dynamic, ""];
    return room === "" ? (path ?? dynamic) : room === undefined ? "looplet" : `looplet/${room}`;
  });
}

/** The list's rows, `{ id, entry, mark, reason }`, and its faults. */
export function listed(text) {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const form = new RegExp(`^(${ID}) (engine|looplet(?:/[\\w-]+)?) (done|owed)(?: (\\S.*))?$`);
  const rows = lines.map((line) => {
    const [, id, entry, mark, reason] = form.exec(line) ?? [];
    return { line, id, entry, mark, reason };
  });
  const faults = rows.flatMap(({ line, id, mark, reason }, at) => {
    if (id === undefined) return [`"${line}" is neither "ID ENTRY done" nor "ID ENTRY owed why"`];
    if (mark === "owed" && reason === undefined) return [`${id} is owed without a reason`];
    return rows.findIndex((row) => row.id === id) < at ? [`${id} stands twice in the list`] : [];
  });
  return { rows, faults };
}

/**
 * What is wrong with the list, given the tests by id, `{ title, entries }` each, and, where it is at hand, every id
 * of the requirements.
 */
export function faultsOf(text, tests, wanted) {
  const { rows, faults } = listed(text);
  const marks = new Map(rows.map(({ id, mark }) => [id, mark]));
  for (const { id, entry, mark } of rows) {
    const carrying = tests.get(id) ?? [];
    const own = carrying.find(({ entries }) => entries.includes(entry));
    const other = carrying.length === 0 ? "" : `; of another entry does ${carrying[0].title}`;
    if (mark === "done" && own === undefined)
      faults.push(`${id} is done, but no test that imports ${entry} carries it${other}`);
    if (mark === "owed" && own !== undefined)
      faults.push(`${id} is owed, but a test carries it: ${own.title}`);
    if (id !== undefined && wanted?.includes(id) === false)
      faults.push(`${id} is gone from the requirements`);
  }
  for (const [id, [first]] of tests)
    if (!marks.has(id)) faults.push(`${id} is carried by a test, but not in the list: ${first.title}`);
  for (const id of wanted ?? []) if (!marks.has(id)) faults.push(`${id} is missing in the list`);
  return faults;
}

/** @returns {boolean} whether the list is right */
export function checkRequirements() {
  const text = readFileSync(join(root, "tests/REQUIREMENTS"), "utf8");
  const wanted = wantedIds();
  const faults = faultsOf(text, testsById(), wanted);
  for (const fault of faults) console.log(`tests/REQUIREMENTS: ${fault}`);
  const { rows } = listed(text);
  const done = rows.filter(({ mark }) => mark === "done").length;
  const unread = wanted === undefined ? " (REQUIREMENTS.md is not at hand: its ids were not compared)" : "";
  console.log(
    `${faults.length === 0 ? "✓" : "✗"} requirements: ${done} done, ${rows.length - done} owed${unread}`,
  );
  return faults.length === 0;
}

/** Every id of the requirements: the first cell of a table's row, or the first word of an item of section 6. */
function wantedIds() {
  const file = join(process.env.LOOPLET_SHARED || join(root, "../shared"), "REQUIREMENTS.md");
  if (!existsSync(file)) return undefined;
  return [...readFileSync(file, "utf8").matchAll(new RegExp(`^(?:\\| |- )(${ID}) `, "gm"))].map(
    ([, id]) => id,
  );
}

/** The tests of each id. Rust's tests are next to the code and in tests/. */
function testsById() {
  const found = new Map();
  for (const folder of ["src", "crates", "tests"])
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.rs$|\.test\.(?:ts|mjs)$/.test(entry.name)) continue;
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, "utf8");
      const entries = entriesIn(text, file.endsWith(".rs"));
      for (const [id, title] of idsIn(text, file.endsWith(".rs")))
        found.set(id, [...(found.get(id) ?? []), { title: `${relative(root, file)}: ${title}`, entries }]);
    }
  return found;
}

if (isMain(import.meta.url)) {
  const ids = process.argv.slice(2);
  const tests = testsById();
  for (const id of ids) {
    const titles = tests.get(id)?.map(({ title }) => title) ?? ["no test carries it"];
    console.log([id, ...titles].join("\n  "));
  }
  if (ids.length === 0) process.exitCode = checkRequirements() ? 0 : 1;
}
