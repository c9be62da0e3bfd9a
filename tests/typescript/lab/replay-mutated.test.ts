// Files that no run has written: a replay refuses them with words, or plays them.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { replay } from "looplet/replay";
import { expectReplay } from "looplet/testing";
import { fateIn, LOOP_READERS } from "../support/loop-readers.js";

const source = await readFile(new URL("../../fixtures/loop/native.loop", import.meta.url), "utf8");

/** Seeded, so that a failure comes again. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const ODD: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  1e300,
  true,
  "",
  "x",
  "9".repeat(30),
  [],
  [null],
  {},
  { text: null },
];

/** Every place of a value, as a function that puts another there. */
function places(value: unknown, found: ((odd: unknown) => void)[] = []): ((odd: unknown) => void)[] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    const holder = value as { [key: string]: unknown };
    found.push((odd) => (odd === undefined ? delete holder[key] : (holder[key] = odd)));
    places(holder[key], found);
  }
  return found;
}

it("a file with another value at any place is refused with words, or played, by each reader", async () => {
  const whole = JSON.parse(source) as { told?: unknown };
  delete whole.told;
  const count = places(structuredClone(whole)).length;
  const roll = dice(7);
  const outcomes = new Set<string>();
  for (let turn = 0; turn < 250; turn++) {
    const copy = structuredClone(whole);
    const odd = roll(ODD.length + 1) === 0 ? undefined : ODD[roll(ODD.length)];
    places(copy)[roll(count)]!(odd);
    const text = JSON.stringify(copy);
    for (const read of Object.values(LOOP_READERS)) outcomes.add((await fateIn(read, text)).fate);
  }
  expect(outcomes).toContain("refused");
  expect(outcomes).toContain("played");
}, 60_000);

it.each([
  ["a process of null", (file: any) => (file.processes[0] = null)],
  ["an input of null", (file: any) => (file.processes[0].inputs[1] = null)],
  ["an input without one", (file: any) => (file.processes[0].inputs[1].input = null)],
  ["a chunk of null", (file: any) => (file.processes[0].inputs[1].input = { text: null })],
  ["a number that is none", (file: any) => (file.processes[0].inputs[1].after = "x")],
  ["a seed that is none", (file: any) => (file.processes[0].inputs[1].random = null)],
  ["entries of null", (file: any) => (file.processes[0].entries = [null])],
  ["no id", (file: any) => (file.id = null)],
  ["expectations of null", (file: any) => (file.expected = { requests: [null], text: 5 })],
])("%s is refused with words", async (_, change) => {
  const file = JSON.parse(source);
  change(file);
  await expect(replay(JSON.stringify(file))).rejects.toMatchObject({
    name: "LoopletError",
    code: "misuse_run_file",
    message: expect.stringMatching(/damaged|cannot be played/),
  });
  await expect(expectReplay(JSON.stringify(file))).rejects.not.toThrow(TypeError);
});
