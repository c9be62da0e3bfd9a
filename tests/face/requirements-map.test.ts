import { describe, expect, it } from "vitest";
import { faultsOf, idsIn } from "../../scripts/requirements.mjs";

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

describe("the list of requirements", () => {
  const tests = new Map([[first, ["a.test.ts: a title"]]]);
  const faults = (text: string, wanted?: string[]) => faultsOf(text, tests, wanted).join("; ");

  it("is right when what is done has a test, and what is owed has a reason", () => {
    const text = `# A remark.\n${first} done\n\n${second} owed no store yet\n`;
    expect(faults(text, [first, second])).toBe("");
    expect(faults(text)).toBe("");
  });

  it.each([
    ["no test carries what is done", `${first} done\n${second} done`, "no test carries it"],
    ["a test carries what is owed", `${first} owed why\n${second} owed why`, "but a test carries it"],
    ["what is owed has no reason", `${first} done\n${second} owed`, "without a reason"],
    ["an id is gone", `${first} done\n${second} owed why\nT-01 owed why`, "T-01 is gone"],
    ["an id is missing", `${first} done`, `${second} is missing`],
    ["a test carries an id that is not there", `${second} owed why`, "not in the list"],
    ["an id stands twice", `${first} done\n${first} done\n${second} owed why`, "twice"],
    ["a line says neither", `${first} maybe\n${first} done\n${second} owed why`, "neither"],
  ])("is wrong when %s", (_, text, fault) => {
    expect(faults(text, [first, second])).toContain(fault);
  });
});
