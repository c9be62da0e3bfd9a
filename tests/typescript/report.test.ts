import { afterEach, describe, expect, it, vi } from "vitest";
import { Report, ran, skipped } from "../../scripts/lib/report.mjs";

const vitest = (tests: string) => ` Test Files  1 passed (1)\n      Tests  ${tests}\n`;
const node = (passed: number, skipped: number, todo: number) =>
  `ℹ pass ${passed}\nℹ fail 0\nℹ cancelled 0\nℹ skipped ${skipped}\nℹ todo ${todo}\n`;
const cargo = [
  "running 3 tests",
  "SKIPPED chains: no recordings in ../shared/wire (set LOOPLET_SHARED)",
  "SKIPPED gemini: no recordings in ../shared/wire (set LOOPLET_SHARED)",
  "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
  "",
].join("\n");

describe("what a part of the tests amounts to", () => {
  it.each([
    ["Vitest", vitest("3 passed (3)"), 3, 0],
    ["Vitest's skips", vitest("3 passed | 1 skipped (4)"), 3, 1],
    ["Vitest's skips and todo", vitest("3 passed | 1 skipped | 2 todo (6)"), 3, 3],
    ["Node's skips and todo", node(4, 1, 2), 4, 3],
    ["cargo's tests without recordings", cargo, 1, 2],
  ])("%s: what was skipped is counted, and not as passed", (_, text, passed, left) => {
    expect(ran({ code: 0, text })).toEqual({ passed, failed: 0, left });
  });

  it("counts a command that failed without a failed test as one", () => {
    expect(ran({ code: 101, text: "error: could not compile" })).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe("the last line", () => {
  const { exitCode } = process;
  afterEach(() => {
    process.exitCode = exitCode;
    vi.restoreAllMocks();
  });

  /** The last line and the exit code of a suite of one part. */
  async function ended(
    options: { inCi: boolean; hasShared?: boolean },
    part: () => object = () => ran({ code: 0, text: cargo }),
  ) {
    const log = vi.spyOn(console, "log").mockReturnValue();
    const report = new Report(options);
    await report.part("native", part);
    report.end();
    return { line: String(log.mock.lastCall), code: process.exitCode };
  }

  it("names what was skipped", async () => {
    const { line, code } = await ended({ inCi: false });
    expect(line).toContain("1 passed, 0 failed, SKIPPED: 2 tests of native");
    expect(code).toBe(0);
  });

  it("is a failure in CI", async () => {
    const { line, code } = await ended({ inCi: true, hasShared: true });
    expect(line).toContain("1 passed, 1 failed, SKIPPED: 2 tests of native, a failure in CI");
    expect(code).toBe(1);
  });

  it("is none on a machine of which somebody said that it has no recordings", async () => {
    const { line, code } = await ended({ inCi: true, hasShared: false });
    expect(line).toContain("1 passed, 0 failed, SKIPPED: 2 tests of native");
    expect(code).toBe(0);
  });

  it("is a failure there too if a whole part was skipped", async () => {
    const { line, code } = await ended({ inCi: true, hasShared: false }, () => skipped("no Chromium"));
    expect(line).toContain("0 passed, 1 failed, SKIPPED: native (no Chromium), a failure in CI");
    expect(code).toBe(1);
  });
});
