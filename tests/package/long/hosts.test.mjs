// The package in the hosts that only the long suite has.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { firefox } from "playwright-core";
import { added, installFacades, run } from "../install.mjs";
import {
  answer,
  externalScript,
  gotFile,
  gotText,
  open,
  openWatched,
  pageScript,
  streamed,
  writeEntry,
  writePage,
} from "../page.mjs";

const { LOOPLET_BUN, LOOPLET_CHROMIUM, LOOPLET_FIREFOX, LOOPLET_PARCEL, LOOPLET_ROLLUP, LOOPLET_WEBPACK } =
  process.env;
const inFirefox = () => firefox.launch({ channel: "moz-firefox", executablePath: LOOPLET_FIREFOX });
let folder, remove;

before(async () => ({ folder, remove } = await installFacades()));
after(() => remove?.());

test("Bun runs ten lines on the package", async () => {
  assert.match(await run(LOOPLET_BUN, ["main.mjs"], folder), answer);
});

test("Bun runs the facades", async () => {
  assert.match(await run(LOOPLET_BUN, ["facades-main.mjs"], folder), added);
});

test("Firefox runs it without a bundler", { skip: !LOOPLET_FIREFOX && "no Firefox" }, async () => {
  const dist = "/node_modules/looplet/dist";
  writePage(folder, "plain", { looplet: `${dist}/default.js`, "looplet/practice": `${dist}/practice.js` });
  assert.match(await openWatched(folder, "/plain/", { launch: inFirefox }), gotFile);
});

test(
  "Chromium streams the file from a webpack bundle of it",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    await packWith("webpack", writeEntry(folder));
    assert.match(await openWatched(folder, "/webpack/"), gotFile);
  },
);

test(
  "Chromium runs a webpack bundle of the facades",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    const entry = join(folder, "facades-page.mjs");
    const show = "facades().catch(String).then((text) => (document.title = `done: ${text}`));";
    writeFileSync(entry, `import { facades } from "./facades.mjs";\n${show}\n`);
    await packWith("facades", entry);
    assert.match(await open(folder, "/facades/"), added);
  },
);

test(
  "Chromium streams the .wasm of looplet/external from a webpack bundle",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    const entry = join(folder, "external.mjs");
    writeFileSync(entry, externalScript('const wasm = new URL("looplet/looplet.wasm", import.meta.url);'));
    await packWith("external", entry);
    assert.match(await open(folder, "/external/"), streamed);
  },
);

async function packWith(name, entry) {
  const webpack = createRequire(join(LOOPLET_WEBPACK, "x.js"))("webpack");
  const output = { path: join(folder, name), filename: "main.js", module: true };
  const options = { mode: "production", context: folder, entry, output, experiments: { outputModule: true } };
  const stats = await new Promise((resolve, reject) =>
    webpack(options, (error, done) => (error ? reject(error) : resolve(done))),
  );
  assert.equal(stats.hasErrors(), false, stats.toString({ all: false, errors: true }));
  writePage(folder, name);
}

test(
  "Chromium loads the text from a Bun bundle of it",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    await run(
      LOOPLET_BUN,
      ["build", writeEntry(folder), "--target=browser", "--outfile=bun/main.js"],
      folder,
    );
    writePage(folder, "bun");
    assert.match(await openWatched(folder, "/bun/"), gotText);
  },
);

test(
  "Chromium loads the text from a Rollup bundle of it",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    const { rollup } = createRequire(join(LOOPLET_ROLLUP, "x.js"))("rollup");
    const dist = join(folder, "node_modules/looplet/dist");
    const paths = { looplet: join(dist, "default.js"), "looplet/practice": join(dist, "practice.js") };
    const bundle = await rollup({
      input: writeEntry(folder),
      plugins: [{ name: "looplet", resolveId: (id) => paths[id] ?? null }],
    });
    await bundle.write({ dir: join(folder, "rollup"), format: "es", entryFileNames: "main.js" });
    writePage(folder, "rollup");
    assert.match(await openWatched(folder, "/rollup/"), gotText);
  },
);

test(
  "Chromium streams the file from a Parcel build of it",
  { skip: !LOOPLET_CHROMIUM && "no Chromium" },
  async () => {
    writePage(folder, "parcel-source");
    writeFileSync(join(folder, "parcel-source/main.js"), pageScript("../ten-lines.mjs"));
    // Parcel reads the `exports` of packages only if the project says so.
    const settings = { private: true, type: "module", "@parcel/resolver-default": { packageExports: true } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(settings));
    const parcel = join(LOOPLET_PARCEL, "parcel/lib/bin.js");
    const flags = ["--public-url", "/parcel/", "--dist-dir", "parcel", "--no-source-maps", "--no-cache"];
    await run(process.execPath, [parcel, "build", "parcel-source/index.html", ...flags], folder, 120_000);
    assert.match(await openWatched(folder, "/parcel/"), gotFile);
  },
);
