// `looplet/server` in Bun, which only the long suite has.
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { here, installPacked } from "../install.mjs";
import { behaves, listening } from "../server-kit.mjs";

test("Bun serves it", async () => {
  const { folder, remove } = await installPacked();
  cpSync(join(here, "server-program.mjs"), join(folder, "server-program.mjs"));
  const program = `import { handle } from "./server-program.mjs";
const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handle, idleTimeout: 30 });
console.log("http://127.0.0.1:" + port);
`;
  writeFileSync(join(folder, "bun-server.mjs"), program);
  const workers = join(folder, "node_modules/looplet/dist/workers.js");
  const { connectAgent } = await import(pathToFileURL(workers).href);
  const { url, end } = await listening(process.env.LOOPLET_BUN, ["bun-server.mjs"], folder);
  try {
    await behaves(connectAgent, `${url}/api/agent`);
  } finally {
    end();
    remove();
  }
});
