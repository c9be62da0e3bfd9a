import { describe, expect, it } from "vitest";
import { entriesIn, faultsOf, idsIn } from "../../scripts/requirements.mjs";

// Put together here, so that no line of this file is taken for a test of what it names.
const [first, second] = ["S000", "I"].map((kind) => `${kind}-07`) as [string, string];
const rust = "s000_07_i_07_equal_inputs";

describe("the ids that tests carry", () => {
  it.each([
    ["a Rust test's name", `    #[test]\n    fn ${rust}() {`, true, [first, second]],
    ["a Rust test with another attribute", `#[test]\n#[cfg(unix)]\nfn ${rust}() {`, true, [first, second]],
    ["a title", `  it("${first}, ${second}: a sentence", () => {});`, false, [first, second]],
    ["the title of a table", `  ])(\n    "${first}: %s",`, false, [first]],
    ["a row's title", `  ["${first}: a row", 1],`, false, [first]],
    ["a row of one id", `  ("${second}", 1),`, true, [second]],
  ])("are read from %s", (_, text, isRust, ids) => {
    expect(idsIn(text, isRust).map(([id]) => id)).toEqual(ids);
  });

  it.each([
    ["a function that is no test", `fn ${rust}() {`, true],
    ["the middle of a name", "#[test]\nfn an_s000_07_elsewhere() {", true],
    ["a comment", `  // it("${first}: a sentence")\n/// ("${first}", 1)`, false],
    ["a describe", `describe("${first}: a group", () => {`, false],
    ["a test that is skipped", `it.skip("${first}: a sentence", () => {`, false],
    ["the message of an assertion", `assert!(ok, "${first}: no"); panic!("${first}")`, true],
    ["any other string", `expect(x).toBe("${first}"); const y = [1, "${first}"];`, false],
  ])("are not read from %s", (_, text, isRust) => {
    expect(idsIn(text, isRust)).toEqual([]);
  });
});

describe("the entries that a test file imports", () => {
  it.each([
    ["a subpath", `import { turn } from "looplet/prompty";`, ["looplet/prompty"]],
    ["several lines", `import {\n  turn,\n  load,\n} from "looplet/prompty";`, ["looplet/prompty"]],
    ["nothing but effects", `import "looplet";`, ["looplet"]],
    [
      "the path of the main entry",
      `import { tool } from "../../src/typescript/core/entry/node.js";`,
      ["looplet"],
    ],
    [
      "the path of a room",
      `import { query } from "../../../src/typescript/compat/agent-sdk/index.js";`,
      ["looplet/agent-sdk"],
    ],
    ["a dynamic import", `const { turn } = await import("looplet/prompty");`, ["looplet/prompty"]],
    ["types alone", `import type { Turn } from "looplet/prompty";`, []],
    ["a comment", `// import { turn } from "looplet/prompty";`, []],
  ])("are read from %s", (_, text, entries) => {
    expect(entriesIn(text, false)).toEqual(entries);
  });

  it("of a file in Rust are the engine", () => {
    expect(entriesIn("use looplet;", true)).toEqual(["engine"]);
  });
});

describe("the list of requirements", () => {
  const test = { title: "a.test.ts: a title", entries: ["looplet/sprout", "vitest"] };
  const tests = new Map([[first, [test]]]);
  const [one, other] = [`${first} looplet/sprout`, `${second} engine`];
  const faults = (text: string, wanted?: string[]) => faultsOf(text, tests, wanted).join("; ");

  it("is right when what is done has a test, and what is owed has a reason", () => {
    const text = `# A remark.\n${one} done\n\n${other} owed no store yet\n`;
    expect(faults(text, [first, second])).toBe("");
    expect(faults(text)).toBe("");
  });

  it("is right when a test of another entry carries what is owed", () => {
    expect(faults(`${first} looplet owed why\n${other} owed why`)).toBe("");
  });

  it.each([
    ["no test carries what is done", `${one} done\n${other} done`, "no test that imports engine carries it"],
    [
      "a test of another entry carries it",
      `${first} looplet/guide done`,
      "of another entry does a.test.ts: a title",
    ],
    ["a test carries what is owed", `${one} owed why\n${other} owed why`, "but a test carries it"],
    ["what is owed has no reason", `${one} done\n${other} owed`, "without a reason"],
    ["an id is gone", `${one} done\n${other} owed why\nT-01 engine owed why`, "T-01 is gone"],
    ["an id is missing", `${one} done`, `${second} is missing`],
    ["a test carries an id that is not there", `${other} owed why`, "not in the list"],
    ["an id stands twice", `${one} done\n${one} done\n${other} owed why`, "twice"],
    ["a line says neither", `${one} maybe\n${one} done\n${other} owed why`, "neither"],
    ["a line has no entry", `${first} done\n${other} owed why`, "neither"],
  ])("is wrong when %s", (_, text, fault) => {
    expect(faults(text, [first, second])).toContain(fault);
  });
});
