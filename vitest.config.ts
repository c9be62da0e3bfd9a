import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./src/face/${path}`, import.meta.url));

// The face is tested from its source, on the glue that `node scripts/build.mjs` leaves in target/glue.
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^looplet$|^(\.\.\/)+src\/face\/core\/entry\/node\.js$/,
        replacement: source("core/entry/node.ts"),
      },
      { find: /^looplet\/(?:external\/)?sprout$/, replacement: source("facades/sprout/index.ts") },
      { find: /^looplet\/cloudflare$/, replacement: source("parts/cloudflare/index.ts") },
      { find: /^looplet\/(?:external\/)?guide$/, replacement: source("facades/guide/index.ts") },
      { find: /^looplet\/(?:external\/)?agent-sdk$/, replacement: source("facades/agent-sdk/index.ts") },
      // Programs of the Claude Agent SDK run unchanged.
      { find: /^@anthropic-ai\/claude-agent-sdk$/, replacement: source("facades/agent-sdk/index.ts") },
      { find: /^looplet\/(?:external\/)?production$/, replacement: source("facades/production/index.ts") },
      { find: /^looplet\/(?:external\/)?prompty$/, replacement: source("facades/prompty/index.ts") },
      { find: /^looplet\/models$/, replacement: source("parts/models/index.ts") },
      { find: /^looplet\/vendors$/, replacement: source("parts/vendors.ts") },
      { find: /^looplet\/prices$/, replacement: source("parts/prices.ts") },
      { find: /^looplet\/trace$/, replacement: source("parts/trace/index.ts") },
      { find: /^looplet\/presets$/, replacement: source("facades/presets/index.ts") },
      { find: /^looplet\/transcript$/, replacement: source("parts/transcript/index.ts") },
      { find: /^looplet\/steps$/, replacement: source("parts/steps/index.ts") },
      { find: /^looplet\/sessions$/, replacement: source("parts/sessions/index.ts") },
      { find: /^looplet\/workers$/, replacement: source("parts/workers/index.ts") },
      { find: /^looplet\/stores$/, replacement: source("parts/stores/index.ts") },
      { find: /^looplet\/stores\/node$/, replacement: source("parts/stores/node.ts") },
      { find: /^looplet\/mcp$/, replacement: source("parts/mcp/index.ts") },
      { find: /^looplet\/tools$/, replacement: source("parts/tools/index.ts") },
      { find: /^looplet\/vfs$/, replacement: source("parts/vfs/index.ts") },
      { find: /^looplet\/vfs\/node$/, replacement: source("parts/vfs/node.ts") },
      { find: /^looplet\/replay$/, replacement: source("parts/replay/index.ts") },
      { find: /^looplet\/testing$/, replacement: source("parts/testing/index.ts") },
      { find: /^looplet\/practice$/, replacement: source("parts/practice/index.ts") },
      { find: /^looplet\/external$/, replacement: source("core/entry/external.ts") },
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
