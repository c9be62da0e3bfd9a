import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/face/${path}`, import.meta.url));

/** The rooms of a floor whose names are subpaths: folders, or files beside them. */
const rooms = (floor: string): string[] =>
  readdirSync(source(floor)).map((name) => name.replace(/\.ts$/, ""));

// The face is tested from its source, on the glue that `node scripts/build.mjs` leaves in target/glue.
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^looplet$|^(\.\.\/)+src\/face\/core\/entry\/node\.js$/,
        replacement: source("core/entry/node.ts"),
      },
      { find: /^looplet\/external$/, replacement: source("core/entry/external.ts") },
      { find: /^looplet\/external\/([\w-]+)$/, replacement: source("facades/$1/external.ts") },
      // Programs of the Claude Agent SDK run unchanged.
      { find: /^@anthropic-ai\/claude-agent-sdk$/, replacement: source("facades/agent-sdk/index.ts") },
      ...["facades", "parts"].map((floor) => ({
        find: new RegExp(`^looplet/(${rooms(floor).join("|")})(/node|/publish)?$`),
        replacement: source(`${floor}/$1$2`),
      })),
    ],
  },
  // A test that reaches no assertion fails, also where they all stand in a callback that was not called.
  test: {
    include: ["tests/face/**/*.test.ts"],
    // What needs the other build's files: `npm run test:long -- builds`.
    exclude: process.env["LOOPLET_LOOPS"] === undefined ? ["tests/face/long/**"] : [],
    expect: { requireAssertions: true },
    // Vitest leaves a core free, which on a machine of CI is one of two.
    maxWorkers: "100%",
    // Tools of tests throw on purpose, and such errors stand on the console.
    silent: "passed-only",
  },
});
