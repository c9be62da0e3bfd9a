import { LoopletError } from "../../core/api/errors.js";
import { describe } from "../../core/kit/check.js";
import { harmless } from "./harmless.js";

/** The program that runs a test. @beta */
export type TestRunner = "node" | "vitest";

const RUNNERS: { readonly [runner in TestRunner]: string } = { node: "node:test", vitest: "vitest" };

/**
 * The code of a test that plays the `.loop` file of this name. `name` is the file's path from the folder of the test,
 * with `/` between folders. Default of `runner`: `"node"`, for `node:test`.
 *
 * @beta
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function testFile(name: string, runner: TestRunner = "node"): string {
  const url = urlOf(name);
  return `import { readFile } from "node:fs/promises";
import { test } from "${RUNNERS[runner]}";
import "looplet"; // the engine
import { expectReplay } from "looplet/testing";

test(${JSON.stringify(`the run ${harmless(name)}`)}, async () => {
  await expectReplay(await readFile(new URL(${JSON.stringify(url)}, import.meta.url), "utf8"));
});
`;
}

function urlOf(name: unknown): string {
  try {
    if (typeof name === "string") return name.split("/").map(encodeURIComponent).join("/");
  } catch {
    // It has half a letter, which no address has.
  }
  throw new LoopletError(
    "misuse_invalid_argument",
    "name",
    `needs the path of a file, got ${describe(name)}`,
  );
}
