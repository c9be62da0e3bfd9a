// workerd with a Worker of the installed folder.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";

/**
 * workerd with a Worker bundled as wrangler does: esbuild with the Worker conditions, the `.wasm` left to the
 * runtime. `folder` has looplet in its node_modules, `entry` is a path in it. `more` are further options of
 * Miniflare.
 */
export async function startWorkerd(folder, entry, compatibilityDate = "2026-07-01", more = {}) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    external: ["*.wasm", "cloudflare:*"],
    write: false,
    logLevel: "warning",
  });
  return new Miniflare({
    ...more,
    cf: false,
    compatibilityDate,
    modules: [
      { type: "ESModule", path: "worker.js", contents: outputFiles[0].text },
      {
        type: "CompiledWasm",
        path: "looplet.wasm",
        contents: readFileSync(join(folder, "node_modules/looplet/dist/looplet.wasm")),
      },
    ],
  });
}

/**
 * `startWorkerd` on the files of a process that was killed, once it is ready. For some milliseconds workerd may find
 * its databases locked by their recovery, and ends; it is started again then.
 */
export async function restartWorkerd(...given) {
  for (let attempt = 1; ; attempt++) {
    const next = await startWorkerd(...given);
    try {
      await next.ready;
      return next;
    } catch (error) {
      await next.dispose().catch(() => {});
      if (attempt === 10 || !error.message.includes("SQLITE_BUSY")) throw error;
    }
  }
}

/** The ids of the workerd processes that this process has started. */
export function workerds() {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" });
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const mine = rows.filter(([, parent, name]) => Number(parent) === process.pid && name.includes("workerd"));
  return mine.map(([pid]) => Number(pid));
}
