// npm run site: builds docs/ as a web site in target/site, for the path /docs/ of a static host.
//   npm run site -- --serve    also serves it on this machine
import { join } from "node:path";
import { fail, isMain, root, runQuietly } from "./lib/machine.mjs";
import { setupNpm } from "./setup.mjs";

export async function buildSite() {
  await setupNpm();
  const vitepress = join(root, "node_modules/vitepress/bin/vitepress.js");
  await runQuietly("building the site", process.execPath, [vitepress, "build", join(root, "www/site")], {
    cwd: root,
  });
}

/** Serves what is in target/site: `{ url, close }`. */
export async function serveSite() {
  // Set-up may have just installed it.
  const { preview } = await import("vite");
  const server = await preview({
    configFile: false,
    root,
    base: "/docs/",
    appType: "mpa",
    logLevel: "warn",
    build: { outDir: "target/site" },
    preview: { host: "127.0.0.1", port: 0 },
  });
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}

if (isMain(import.meta.url)) {
  await buildSite().catch(fail);
  if (process.argv.includes("--serve")) console.log((await serveSite()).url);
}
