// What a page downloads for an agent with tools that asks Anthropic's models, in kB of brotli: `npm run bench:sizes`.
// Each bundle is made by esbuild into one file, as a page without splitting has it.
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { setUp } from "./setup.mjs";

const imports = {
  "looplet, the default import": 'export { createAgent, anthropic, tool } from "looplet"',
  "looplet/external, no looplet.wasm": 'export { createAgent, anthropic, tool } from "looplet/external"',
  "AI SDK": 'export { streamText, tool } from "ai"; export { createAnthropic } from "@ai-sdk/anthropic"',
  "Anthropic SDK, its tool runner": 'export { Anthropic } from "@anthropic-ai/sdk"',
  "pi agent-core":
    'export { runAgentLoop } from "@earendil-works/pi-agent-core"; export * from "@earendil-works/pi-ai/api/anthropic-messages"',
  "xsAI (Chat Completions)":
    'export { streamText } from "@xsai/stream-text"; export { rawTool } from "@xsai/tool"',
  // The chat of docs/tasks/react.md, with React.
  "React chat on looplet":
    'export { createAgent, anthropic, tool } from "looplet"; export { indexedDbStore } from "looplet/stores"; export { useAgent, useSessions } from "looplet/react"; export { createRoot } from "react-dom/client"',
  "React chat on the AI SDK, in the page":
    'export { DirectChatTransport, ToolLoopAgent, tool } from "ai"; export { createAnthropic } from "@ai-sdk/anthropic"; export { useChat } from "@ai-sdk/react"; export { createRoot } from "react-dom/client"',
  "only React and its DOM": 'export { createRoot } from "react-dom/client"',
};

/** What a Worker uploads in addition to `looplet.wasm`: the Worker of docs/tasks/cron-and-d1.md. */
const worker =
  'export { createAgent, anthropic } from "looplet"; export { d1Store, supervise } from "looplet/stores"';

setUp();
const wasm = readFileSync(new URL("../dist/looplet.wasm", import.meta.url));
print("", ["raw", "gzip -9", "brotli"]);
for (const [name, contents] of Object.entries(imports)) {
  const bundle = await bundled(contents, {
    platform: "browser",
    // Code that a page never reaches, and optional peers.
    external: [
      "node:*",
      "fs",
      "os",
      "path",
      "crypto",
      "child_process",
      "http",
      "https",
      "stream",
      "effect",
      "sury",
    ],
  });
  print(name, sizes(bundle));
  if (name.startsWith("looplet/external")) print("  looplet.wasm", sizes(wasm));
}
print(
  "a Worker with D1, no looplet.wasm",
  sizes(await bundled(worker, { conditions: ["workerd", "worker"], external: ["*.wasm"] })),
);

async function bundled(contents, options) {
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    logLevel: "error",
    ...options,
  });
  return outputFiles[0].contents;
}

function sizes(bytes) {
  return [bytes, gzipSync(bytes, { level: 9 }), brotliCompressSync(bytes)].map(({ length }) =>
    (length / 1000).toFixed(1),
  );
}

function print(name, columns) {
  console.log(name.padEnd(40) + columns.map((text) => text.padStart(10)).join(""));
}
