// npm start: sets the machine up, builds the package and serves the playground.
//   npm start -- --once "question"   runs the question in the terminal instead
//   npm start -- --screens           also bundles the tab of other front ends, whose packages have 500 MB
//   npm start -- --port 8080         another port; other options go to Vite too
import { join } from "node:path";
import { build } from "./build.mjs";
import { fail, root, run } from "./lib/machine.mjs";
import { bundleScreens } from "./screens.mjs";
import { setup } from "./setup.mjs";

async function main() {
  const args = process.argv.slice(2).filter((argument) => argument !== "--screens");
  await build({ machine: await setup() });
  if (process.argv.includes("--screens")) await bundleScreens();
  const once = args.indexOf("--once");
  const command =
    once >= 0
      ? [join(root, "examples/once.mjs"), ...args.slice(once + 1)]
      : [join(root, "node_modules/vite/bin/vite.js"), join(root, "www"), "--host", "127.0.0.1", ...args];
  // Ctrl-C reaches Vite directly. This process only waits for its end.
  process.on("SIGINT", () => {});
  const { code, signal } = await run(process.execPath, command);
  process.exitCode = signal ? 0 : code;
}

await main().catch(fail);
