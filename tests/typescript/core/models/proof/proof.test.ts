/**
 * Random stories against servers that check what precedes reasoning: nothing is refused, nothing that is sent is
 * dropped, and nothing is kept back that the vendor would have read. LOOPLET_STORIES is the number of stories,
 * LOOPLET_FIRST_STORY the seed of the first.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { play } from "./story.js";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../../shared");
const file = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(file);
if (!isThere) console.warn(`SKIPPED proof: no ${file} (set LOOPLET_SHARED)`);
const servers = isThere ? await import(file) : undefined;
const seeds = Number(process.env["LOOPLET_STORIES"]) || 200;
const first = Number(process.env["LOOPLET_FIRST_STORY"]) || 1;
/** Real milliseconds of one story, beyond which it hangs. */
const HANGS_MS = 60_000;

describe.skipIf(!isThere)("conversations in which everything changes", () => {
  it(
    "send each block of reasoning where its vendor reads it, and nowhere else",
    async () => {
      const faults: string[] = [];
      for (let seed = first; seed < first + seeds && faults.length < 20; seed++) {
        faults.push(...(await played(`${seed}`)));
        // Nothing is freed within one task, and a story may have no timer of its own.
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      expect(faults).toEqual([]);
    },
    120_000 + seeds * 500,
  );
});

async function played(seed: string): Promise<string[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hangs = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([`seed ${seed} hangs`]), HANGS_MS);
  });
  try {
    return await Promise.race([play(seed, servers), hangs]);
  } finally {
    clearTimeout(timer);
  }
}
