// A module of the installed folder in the runtimes of the edge, bundled as their tools do.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { startWorkerd } from "./workerd.mjs";

/** What the function `name` of the module at `path` returns for the text `given` in workerd. */
export async function askWorkerd(folder, path, name, given = "") {
  const entry = `worker-${path}`;
  const answer = `async (request) => new Response(await ${name}(await request.text()))`;
  writeFileSync(
    join(folder, entry),
    `import { ${name} } from "./${path}";\nexport default { fetch: ${answer} };\n`,
  );
  const flare = await startWorkerd(folder, entry);
  try {
    const asked = { method: "POST", body: given };
    return (await (await flare.dispatchFetch("http://worker.test/", asked)).text()).trim();
  } finally {
    await flare.dispose();
  }
}

/** The same in Vercel's Edge Runtime, which is installed in the folder `edge`. */
export async function askEdge(edge, folder, path, name) {
  // As Vercel's build does, which compiles the file that a `?module` names and hands the module in.
  const module = {
    name: "wasm-module",
    setup(build) {
      build.onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: "module" }));
      build.onLoad({ filter: /./, namespace: "module" }, () => ({
        contents: "export default LOOPLET_WASM;",
      }));
    },
  };
  const entry = join(folder, `edge-${path}`);
  writeFileSync(
    entry,
    `import { ${name} } from "./${path}";\n` +
      `addEventListener("fetch", (event) => event.respondWith(${name}().then((text) => new Response(text))));\n`,
  );
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    conditions: ["edge-light"],
    format: "iife",
    target: "es2022",
    logLevel: "warning",
    plugins: [module],
    write: false,
  });
  const { EdgeRuntime } = createRequire(join(edge, "x.js"))("edge-runtime");
  const wasm = await WebAssembly.compile(
    readFileSync(join(folder, "node_modules/looplet/dist/looplet.wasm")),
  );
  const runtime = new EdgeRuntime({
    initialCode: outputFiles[0].text,
    extend: (context) => Object.assign(context, { LOOPLET_WASM: wasm }),
  });
  return (await runtime.dispatchFetch("http://edge.test/")).text();
}

/** What the edge function of the documentation answers to `body` in Vercel's Edge Runtime, whose `fetch` is `vendor`. */
export async function askPrintedEdge(edge, folder, code, vendor, body) {
  const entry = join(folder, "printed-edge.js");
  writeFileSync(entry, code);
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    format: "iife",
    logLevel: "warning",
    write: false,
  });
  const { EdgeRuntime } = createRequire(join(edge, "x.js"))("edge-runtime");
  const LOOPLET_WASM = await WebAssembly.compile(
    readFileSync(join(folder, "node_modules/looplet/dist/looplet.wasm")),
  );
  const runtime = new EdgeRuntime({
    initialCode: outputFiles[0].text,
    extend: (context) => Object.assign(context, { LOOPLET_WASM, ANTHROPIC_API_KEY: "key", fetch: vendor }),
  });
  const response = await runtime.dispatchFetch("http://edge.test/", { method: "POST", body });
  return `${response.status} ${await response.text()}`;
}
