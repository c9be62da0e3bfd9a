/**
 * The code of a test that plays the `.loop` file of this name. `name` is the file's path from the folder of the test,
 * with `/` between folders. The test runs in `node:test`.
 */
export function testFile(name: string): string {
  const url = name.split("/").map(encodeURIComponent).join("/");
  return `import { readFile } from "node:fs/promises";
import { test } from "node:test";
import "looplet"; // the engine
import { expectReplay } from "looplet/testing";

test(${JSON.stringify(`the run ${name}`)}, async () => {
  await expectReplay(await readFile(new URL(${JSON.stringify(url)}, import.meta.url), "utf8"));
});
`;
}
