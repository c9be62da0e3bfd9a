/**
 * One contestant in a fresh workerd, as Cloudflare runs it: a worker that holds the contestant, bundled for it,
 * answers with the first delta of a run. The CPU is that of the whole process, from its start to that answer: what
 * workerd itself needs is in it for every contestant, so it is the difference that says something.
 */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { workloadOf } from "./workloads.mjs";

const fromRoot = createRequire(new URL("../package.json", import.meta.url));
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function firstDeltaInWorkerd(name, id, wire) {
  if (process.platform !== "linux")
    throw new Error("the CPU of workerd is read from /proc, which only Linux has");
  const { Miniflare } = fromRoot("miniflare");
  const [session] = workloadOf(id, wire).begin();
  const chunks = await chunksOf(await session.fetch("https://bench.invalid/", {}));
  const script = await bundled(name, { chunks, task: session.task, wire });
  const modules = [{ type: "ESModule", path: "worker.mjs", contents: script }];
  if (script.includes('"./looplet.wasm"'))
    modules.push({
      type: "CompiledWasm",
      path: "looplet.wasm",
      contents: readFileSync(pathOf("../dist/looplet.wasm")),
    });
  const earlier = new Set(childrenOf("self"));
  const miniflare = new Miniflare({ modules, compatibilityDate: "2026-07-01" });
  try {
    await miniflare.ready;
    const workerd = childrenOf("self").filter((pid) => !earlier.has(pid));
    const first = await miniflare.dispatchFetch("https://bench.invalid/first");
    await first.text();
    const cpuUs = workerd.reduce((sum, pid) => sum + cpuOf(pid), 0);
    const whole = await miniflare.dispatchFetch("https://bench.invalid/whole");
    const text = await whole.text();
    session.options.onText(text);
    session.verify({ text });
    return { cpuUs };
  } finally {
    await miniflare.dispose();
  }
}

async function chunksOf(response) {
  const chunks = [];
  for await (const chunk of response.body) chunks.push(Buffer.from(chunk).toString("base64"));
  return chunks;
}

async function bundled(name, asked) {
  const { build } = fromRoot("esbuild");
  const source = `
    import { run } from ${JSON.stringify(pathOf(`./contestants/${name}.mjs`))};
    const { chunks, task, wire } = ${JSON.stringify(asked)};
    let whole;
    export default {
      async fetch(request) {
        if (request.url.endsWith("/whole")) return new Response(await whole);
        let next = 0;
        const body = () => new ReadableStream({
          pull(controller) {
            if (next === chunks.length) return controller.close();
            controller.enqueue(Uint8Array.from(atob(chunks[next++]), (char) => char.charCodeAt(0)));
          },
        });
        const fetch = async () =>
          new Response(body(), { headers: { "content-type": "text/event-stream; charset=utf-8" } });
        return new Response(await new Promise((resolve, reject) => {
          let text = "";
          const onText = (delta) => {
            text += delta;
            resolve(delta);
          };
          whole = run(task, fetch, { onText, tools: [], wire }).then(() => text);
          whole.catch(reject);
        }));
      },
    };`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: pathOf("."), loader: "js" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    mainFields: ["module", "main"],
    conditions: ["workerd"],
    external: ["node:*", "*.wasm"],
    logLevel: "error",
  });
  return outputFiles[0].text;
}

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
}

/** Microseconds on a processor, of the threads that live. */
function cpuOf(pid) {
  const spentNs = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return spentNs.reduce((sum, ns) => sum + ns, 0) / 1000;
}
