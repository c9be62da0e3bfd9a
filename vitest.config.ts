import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`./src/typescript/${path}`, import.meta.url));

/** The rooms of a wing that are subpaths: its folders and files. */
const rooms = (wing: string): string[] => readdirSync(source(wing)).map((name) => name.replace(/\.ts$/, ""));

// The TypeScript is tested from its source, on the glue that `node scripts/build.mjs` leaves in target/glue.
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^looplet$|^(\.\.\/)+src\/typescript\/core\/entry\/node\.js$/,
        replacement: source("core/entry/node.ts"),
      },
      { find: /^looplet\/external$/, replacement: source("core/entry/external.ts") },
      { find: /^looplet\/external\/([\w-]+)$/, replacement: source("compat/$1/external.ts") },
      // Programs of the Claude Agent SDK run unchanged.
      { find: /^@anthropic-ai\/claude-agent-sdk$/, replacement: source("compat/agent-sdk/index.ts") },
      ...["extras", "server", "ui", "lab", "compat"].map((wing) => ({
        find: new RegExp(`^looplet/(${rooms(wing).join("|")})(/node|/publish)?$`),
        replacement: source(`${wing}/$1$2`),
      })),
    ],
  },
  // A test that reaches no assertion fails, also where they all stand in a callback that was not called.
  test: {
    include: ["tests/typescript/**/*.test.ts"],
    // What needs the other build's files: `npm run test:long -- builds`.
    exclude: process.env["LOOPLET_LOOPS"] === undefined ? ["tests/typescript/long/**"] : [],
    expect: { requireAssertions: true },
    // Vitest leaves a core free, which on a machine of CI is one of two.
    maxWorkers: "100%",
    // The first test of a file waits until the engine is compiled, next to another file's work.
    hookTimeout: 60_000,
    // Tools of tests throw on purpose, and such errors stand on the console.
    silent: "passed-only",
  },
});
