// `useChat` of the AI SDK in Chromium, in each of its versions, on the packed package: what a person does in a chat
// whose agent is in the page.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { installPacked } from "./install.mjs";
import { browse } from "./page.mjs";

const executablePath = process.env.LOOPLET_CHROMIUM;
const skip = !executablePath && "no Chromium";
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
let installed;
before(async () => (installed = skip ? undefined : await installPacked()));
after(() => installed?.remove());

/** The page with `useChat` of this version of `ai`. */
async function pageOf(version) {
  const { folder } = installed;
  const name = `ai-${version}`;
  mkdirSync(join(folder, name));
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("ai-sdk-page.jsx", import.meta.url))],
    outfile: join(folder, name, "main.js"),
    bundle: true,
    format: "esm",
    target: "esnext",
    jsx: "automatic",
    conditions: ["browser"],
    define: { "process.env.NODE_ENV": '"development"' },
    alias: {
      "@ai-sdk/react": join(modules, `ai-sdk-react-${version}`),
      ...Object.fromEntries(
        ["", "/ai-sdk", "/stores"].map((path) => [
          `looplet${path}`,
          join(folder, "node_modules/looplet/dist", `${path.slice(1) || "default"}.js`),
        ]),
      ),
    },
    logLevel: "error",
  });
  const html =
    '<!doctype html><link rel="icon" href="data:,"><main></main><script type="module" src="./main.js"></script>\n';
  writeFileSync(join(folder, name, "index.html"), html);
  return `/${name}/`;
}

for (const version of [5, 6, 7])
  test(`a person chats by useChat of ai ${version} with an agent in the page`, { skip }, async () => {
    const path = await pageOf(version);
    await browse({ folder: installed.folder, path }, async (page, errors) => {
      page.setDefaultTimeout(15_000);
      const send = async (text) => {
        await page.fill("[aria-label=Message]", text);
        await page.click("text=Send");
      };
      const ready = () => page.waitForSelector("[data-status=ready]");
      const said = async (text) => {
        await page.locator("[data-role=assistant]").last().locator(`text=${text}`).waitFor();
        await ready();
      };
      const count = (text) => page.locator(`text=${text}`).count();

      await send("hello");
      await said("You said hello.");

      await send("where");
      await page.click("text=Rome");
      await said("Done: Rome.");

      await send("fail");
      await page.waitForSelector("[role=alert]:has-text('It cannot be done')");
      await page.click("text=Again");
      await said("You said fail.");
      assert.equal(await page.locator("[role=alert]").count(), 0);

      await send("slow");
      await page.waitForSelector("p:text-is('Slow')");
      await page.click("text=Stop");
      await ready();
      await send("on");
      await said("You said on.");

      if (version > 5) {
        await send("book");
        await page.click("text=Deny");
        await said("As you like.");
        assert.equal(await page.evaluate(() => localStorage.getItem("booked")), null);

        await send("book");
        await page.waitForSelector("text=Approve");
        await page.reload();
        await page.click("text=Approve");
        await said("Done: Hotel.");
        assert.equal(await page.evaluate(() => localStorage.getItem("booked")), "1");
        assert.equal(await count("tool-book: output-available"), 1);
      }

      // A page that is loaded again in the middle of an answer shows it to its end.
      await send("slow");
      await page.waitForSelector("p:text-is('Slow') >> nth=1");
      await page.evaluate(() => sessionStorage.setItem("isSecond", "1"));
      await page.reload();
      await said("You said slow.");
      assert.equal(await count("You said slow."), 1);
      await page.reload();
      await said("You said slow.");
      assert.equal(await page.locator("[data-role=user]").count(), version > 5 ? 8 : 6);
      assert.deepEqual(errors, []);
    });
  });
