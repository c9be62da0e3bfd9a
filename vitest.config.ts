import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./src/face/${path}`, import.meta.url));

// The face is tested from its source, on the glue that `node scripts/build.mjs` leaves in target/glue.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^looplet$|^(\.\.\/)+src\/face\/entry\/node\.js$/, replacement: source("entry/node.ts") },
      { find: /^looplet\/(?:external\/)?sprout$/, replacement: source("sprout/index.ts") },
      { find: /^looplet\/cloudflare$/, replacement: source("cloudflare/index.ts") },
      { find: /^looplet\/(?:external\/)?guide$/, replacement: source("guide/index.ts") },
      { find: /^looplet\/(?:external\/)?agent-sdk$/, replacement: source("agent-sdk/index.ts") },
      // Programs of the Claude Agent SDK run unchanged.
      { find: /^@anthropic-ai\/claude-agent-sdk$/, replacement: source("agent-sdk/index.ts") },
      { find: /^looplet\/(?:external\/)?production$/, replacement: source("production/index.ts") },
      { find: /^looplet\/(?:external\/)?prompty$/, replacement: source("prompty/index.ts") },
      { find: /^looplet\/models$/, replacement: source("models/in-page/index.ts") },
      { find: /^looplet\/vendors$/, replacement: source("models/vendors.ts") },
      { find: /^looplet\/prices$/, replacement: source("models/prices.ts") },
      { find: /^looplet\/trace$/, replacement: source("trace/index.ts") },
      { find: /^looplet\/presets$/, replacement: source("presets.ts") },
      { find: /^looplet\/transcript$/, replacement: source("transcript/index.ts") },
      { find: /^looplet\/steps$/, replacement: source("steps/index.ts") },
      { find: /^looplet\/sessions$/, replacement: source("sessions/index.ts") },
      { find: /^looplet\/workers$/, replacement: source("workers/index.ts") },
      { find: /^looplet\/stores$/, replacement: source("stores/index.ts") },
      { find: /^looplet\/stores\/node$/, replacement: source("stores/node.ts") },
      { find: /^looplet\/mcp$/, replacement: source("mcp/index.ts") },
      { find: /^looplet\/tools$/, replacement: source("builtin-tools/index.ts") },
      { find: /^looplet\/vfs$/, replacement: source("vfs/index.ts") },
      { find: /^looplet\/vfs\/node$/, replacement: source("vfs/node.ts") },
      { find: /^looplet\/replay$/, replacement: source("replay/index.ts") },
      { find: /^looplet\/testing$/, replacement: source("testing/index.ts") },
      { find: /^looplet\/practice$/, replacement: source("practice/index.ts") },
      { find: /^looplet\/external$/, replacement: source("entry/external.ts") },
    ],
  },
  // A test that reaches no assertion fails, also where they all stand in a callback that was not called.
  test: {
    include: ["tests/face/**/*.test.ts"],
    // What needs the other build's files: `npm run test:long -- builds`.
    exclude: process.env["LOOPLET_LOOPS"] === undefined ? ["tests/face/long/**"] : [],
    expect: { requireAssertions: true },
    // Tools of tests throw on purpose, and such errors stand on the console.
    silent: "passed-only",
  },
});
