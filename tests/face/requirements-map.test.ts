import { describe, expect, it } from "vitest";
import { idsIn, idsInMap, outOfScope } from "../../scripts/requirements.mjs";

const found = (text: string, isRust = false): string[] =>
  (idsIn(text, isRust) as [string, string][]).map(([id, name]) => `${id} ${name}`);

describe("the map of requirements", () => {
  it("reads ids from the names of Rust's tests, several from one", () => {
    expect(found("    fn s003_22_i_07_equal_inputs_have_equal_hashes() {", true)).toEqual([
      "S003-22 s003_22_i_07_equal_inputs_have_equal_hashes",
      "I-07 s003_22_i_07_equal_inputs_have_equal_hashes",
    ]);
    expect(found("fn an_s003_22_elsewhere() {}", true)).toEqual([]);
  });

  it("reads ids from strings, but not from comments", () => {
    expect(found('it("S000-16, S002-15: a string", () => {});')).toEqual([
      "S000-16 S000-16, S002-15: a string",
      "S002-15 S000-16, S002-15: a string",
    ]);
    expect(found('  // "S000-16"\n  /** "S000-17" */\n * "S000-18"')).toEqual([]);
    expect(found("const S000 = 16; // S000-16")).toEqual([]);
  });

  it("says itself what there must be, where the requirements are not at hand", () => {
    const [tested, wanted] = [1, 2].map((n) => `S00${0}-0${n}`);
    const map = `${tested}  a test\n\n# In scope\n${tested} ${wanted}\n\n# Out of scope\nX  no reason\n`;
    const left = (outOfScope as [string, string[]][]).flatMap(([, ids]) => ids);
    expect(idsInMap(map)).toEqual([tested, wanted, ...left]);
  });

  it("leaves out no id without a reason, and none twice", () => {
    const ids = (outOfScope as [string, string[]][]).flatMap(([reason, left]) => (reason === "" ? [] : left));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
