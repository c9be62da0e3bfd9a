// Pages in Chromium whose tab is closed or whose renderer crashes, with a store in IndexedDB. LOOPLET_SEED asks for other
// moments, LOOPLET_KILLS for another number of deaths: a tenth of it.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { installPacked } from "../install.mjs";
import { browse, writePage } from "../page.mjs";
import { KILLS, World, killAtRandom } from "./world.mjs";

const executablePath = process.env.LOOPLET_CHROMIUM;

const script = `
import * as looplet from "looplet";
import { indexedDbStore } from "looplet/stores";
import { checkTranscript } from "looplet/transcript";
import { live } from "../killed-run.mjs";
await live({ ...looplet, checkTranscript }, { url: location.search.slice(1), store: indexedDbStore({ persist: false }) });
`;

let installed;
before(async () => {
  if (!executablePath) return;
  installed = await installPacked();
  const { folder } = installed;
  copyFileSync(new URL("killed-run.mjs", import.meta.url), join(folder, "killed-run.mjs"));
  writePage(folder, "killed");
  await esbuild.build({
    stdin: { contents: script, resolveDir: join(folder, "killed"), loader: "js" },
    bundle: true,
    format: "esm",
    outfile: join(folder, "killed/main.js"),
    logLevel: "error",
  });
});
after(() => installed?.remove());

const deaths = [
  (page) => page.close(),
  async (page) => {
    const crashed = page.waitForEvent("crash");
    const session = await page.context().newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    await crashed;
    await page.close();
  },
];

test(
  "a run in a page survives the deaths of its tabs",
  { skip: !executablePath && "no Chromium" },
  (context) => {
    let current;
    const hear = (request, response) => current.hear(request, response);
    const launch = () => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    const options = { folder: installed.folder, path: "/main.mjs", launch, others: { "/life": hear } };
    return browse(options, (empty) =>
      killAtRandom(context, "Chromium", Math.ceil(KILLS / 10), async (use) => {
        current = new World();
        const profile = await empty.context().browser().newContext();
        await use(current, async ({ path, fail }) => {
          const page = await profile.newPage();
          page.on("pageerror", fail);
          await page.goto(new URL(`/killed/?${path}`, empty.url()).href);
          return () => deaths[current.lives.length % deaths.length](page);
        });
        await profile.close();
      }),
    );
  },
);
