// Files of strangers who mean harm: each reader refuses them with words, or plays them, and nothing else happens.
import { readFile } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { testFile } from "looplet/replay";
import { ESCAPES, hostileFiles, MARKUP } from "../support/hostile-files.js";
import { COMMANDS, fateIn, FORGED, LOOP_READERS } from "../support/loop-readers.js";

const { told: _, ...recorded } = JSON.parse(
  await readFile(new URL("../../fixtures/loop/wasm.loop", import.meta.url), "utf8"),
) as { told: unknown };
const FILES = hostileFiles(JSON.stringify(recorded));
const NAMES = Object.getOwnPropertyNames(Object.prototype).sort().join();

afterEach(() => {
  expect(Object.getOwnPropertyNames(Object.prototype).sort().join()).toBe(NAMES);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

it.each(FILES)("a file with $name is $fate", { timeout: 60_000 }, async ({ text, fate }) => {
  for (const [name, read] of Object.entries(LOOP_READERS)) {
    const told = await fateIn(read, text);
    expect([name, told.fate]).toEqual([name, fate]);
    expect(COMMANDS.test(told.words), `${name}: ${told.words}`).toBe(false);
    expect(FORGED.test(told.words), `${name}: ${told.words}`).toBe(false);
  }
});

it.each([MARKUP, ESCAPES, "__proto__", "../../${process.exit()}`", "a\u2028b", '\'; import("evil")//'])(
  "the code of a test has the name of its file as a text alone: %j",
  (name) => {
    const code = testFile(name);
    expect(COMMANDS.test(code), code).toBe(false);
    const plain = testFile("PLAIN").split("\n");
    const texts = code.split("\n").map((line, at) => {
      const [before, behind] = plain[at]!.split(/"(?:the run )?PLAIN"/);
      expect(line.startsWith(before!) && line.endsWith(behind ?? ""), line).toBe(true);
      return behind === undefined ? [] : [line.slice(before!.length, line.length - behind.length)];
    });
    const [title, url] = texts.flat().map((text) => JSON.parse(text) as string);
    expect(title).toMatch(/^the run /);
    expect(decodeURIComponent(url!)).toBe(name);
  },
);

it.each([undefined, 7, {}, "\ud800"])("no test is written for a name of %j", (name) => {
  expect(() => testFile(name as string)).toThrowError(
    expect.objectContaining({ name: "LoopletError", code: "misuse_invalid_argument" }) as Error,
  );
});
