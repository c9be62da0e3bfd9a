// Modules of the installed folder in the hosts that this machine has: each is asked for the text that a function of a
// module returns, and has to say the same as Node.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firefox } from "playwright-core";
import { askWorkerd } from "./edges.mjs";
import { run } from "./install.mjs";
import { browse, writePage } from "./page.mjs";

const { LOOPLET_NODE, LOOPLET_DENO, LOOPLET_BUN, LOOPLET_CHROMIUM, LOOPLET_FIREFOX } = process.env;

/** Functions by the name of their host: `(folder, path, name, given)` gives what `name(given)` of the module says. */
export const HOSTS = {
  Node: inProcess(LOOPLET_NODE || process.execPath),
  Chromium: LOOPLET_CHROMIUM && inPage(),
  Firefox:
    LOOPLET_FIREFOX &&
    inPage(() => firefox.launch({ channel: "moz-firefox", executablePath: LOOPLET_FIREFOX })),
  workerd: askWorkerd,
  Deno: LOOPLET_DENO && inProcess(LOOPLET_DENO, "run", "--no-prompt", "--allow-read"),
  Bun: LOOPLET_BUN && inProcess(LOOPLET_BUN),
};

/** The subpaths that such modules import, and the files of `dist` that a page gets for them. */
const SUBPATHS = { looplet: "default", ...named("replay", "stores", "testing") };

function named(...names) {
  return Object.fromEntries(names.map((name) => [`looplet/${name}`, name]));
}

function inProcess(command, ...args) {
  return async (folder, path, name, given = "") => {
    writeFileSync(join(folder, "given.txt"), given);
    const script =
      `import { readFileSync } from "node:fs";\nimport { ${name} } from "./${path}";\n` +
      `console.log(await ${name}(readFileSync("given.txt", "utf8")));\n`;
    writeFileSync(join(folder, `asks-${path}`), script);
    return (await run(command, [...args, `asks-${path}`], folder, 600_000)).trim();
  };
}

function inPage(launch) {
  return async (folder, path, name, given = "") => {
    writeFileSync(join(folder, "given.txt"), given);
    const files = Object.entries(SUBPATHS).map(([one, file]) => [
      one,
      `/node_modules/looplet/dist/${file}.js`,
    ]);
    writePage(folder, "asked", Object.fromEntries(files));
    const script =
      `import { ${name} } from "../${path}";\n` +
      `const given = await (await fetch("../given.txt")).text();\n` +
      `await ${name}(given).catch(String).then((told) => { document.body.append(told); document.title = "done: all"; });\n`;
    writeFileSync(join(folder, "asked/main.js"), script);
    const said = await browse({ folder, path: "/asked/", launch }, async (page, errors) => {
      const ended = page.waitForFunction(() => document.title.startsWith("done: "), null, {
        timeout: 600_000,
      });
      await ended.catch(() => {});
      return (await page.evaluate(() => document.body.textContent)) + errors.join(" ");
    });
    return said.trim();
  };
}
