// What is missing in the table of list prices: ids of the vendors' newest SDKs without a row, and rows that were read
// more than 30 days ago. It is a report of `npm run check` and never a failure. Without a network it is silent.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMain, output, root } from "./lib/machine.mjs";

const MAX_AGE_DAYS = 30;

/** The SDKs, and the file of each that has the union of the models' ids. */
const SDKS = [
  { name: "@anthropic-ai/sdk", vendor: "anthropic", file: "resources/messages/messages.d.ts" },
  { name: "openai", vendor: "openai", file: "resources/shared.d.ts" },
  { name: "@google/genai", vendor: "google", file: "dist/genai.d.ts" },
];

/**
 * Models that are not asked by tokens of text, or that their vendor has retired: Mythos Preview on 2026-06-30, the
 * chat models of GPT-5.1 to 5.3 until 2026-08-10. `gpt-5.1-mini` was never a model: the SDK has it by mistake.
 */
const NOT_ASKED =
  /audio|image|tts|transcribe|live|omni|robotics|banana|search|deep-research|computer-use|customtools|mythos-preview|^gpt-(3|4$|4-|5\.[123]-chat|5\.1-mini)|^o1-(mini|preview)|^gemini-[12]\.0|^gemini-(pro|flash|flash-lite)-latest/;

/** Models for selected customers. No page had their prices on 2026-11-29. */
const WITHOUT_PRICE = ["gpt-6-rosalind", "gpt-6.2-astra-law"];

/** The ids of models in the unions of a file of types, each once. */
export function modelIds(types) {
  const unions = types.match(/^.*type \w+ =[^;]*?["'](?:claude|gpt|gemini)-[^;]*;/gm) ?? [];
  const ids = unions.flatMap(
    (union) => union.match(/(?<=["'])(?:claude-|gpt-|gemini-|o\d)[\w.-]+(?=["'])/g) ?? [],
  );
  return [...new Set(ids)].filter((id) => !NOT_ASKED.test(id));
}

/** The lines of the report. `sdks` have `name`, `vendor` and `types`, the text of a file. */
export function priceReport({ prices, PRICES_DATE }, sdks, nowMs = Date.now()) {
  const lines = sdks.flatMap(({ name, vendor, types }) => {
    const isMissing = (id) => prices(vendor, id) === undefined && !WITHOUT_PRICE.includes(id);
    const missing = modelIds(types).filter(isMissing);
    return missing.length === 0 ? [] : [`no list price for ids of ${name}: ${missing.join(", ")}`];
  });
  const days = Math.floor((nowMs - Date.parse(PRICES_DATE)) / 86_400_000);
  return days > MAX_AGE_DAYS
    ? [...lines, `the list prices were read ${days} days ago, on ${PRICES_DATE}`]
    : lines;
}

/** The file of an SDK's newest version; undefined if the registry does not answer. */
function typesOf({ name, file }, folder) {
  const options = { cwd: folder, timeout: 30_000, stdio: ["ignore", "pipe", "ignore"] };
  const quick = ["--silent", "--fetch-retries=0", "--fetch-timeout=20000"];
  const packed = output("npm", ["pack", `${name}@latest`, ...quick], options)
    ?.split("\n")
    .at(-1);
  if (!packed || output("tar", ["-xzf", packed, `package/${file}`], options) === undefined) return undefined;
  return readFileSync(join(folder, "package", file), "utf8");
}

/** Prints the report on the built package. */
export async function reportPrices() {
  const folder = mkdtempSync(join(tmpdir(), "looplet-sdks-"));
  try {
    const found = [];
    for (const sdk of SDKS) {
      const types = typesOf(sdk, folder);
      // The others would not come either.
      if (types === undefined) break;
      found.push({ ...sdk, types });
    }
    const table = await import(pathToFileURL(join(root, "dist/prices.js")).href);
    for (const line of priceReport(table, found)) console.log(`  ${line}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) await reportPrices();
