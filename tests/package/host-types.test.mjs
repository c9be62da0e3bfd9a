// Every example of the package and of the documentation with the types of its own host, as its reader's project has
// them.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { examples, root } from "./docs-examples.mjs";
import { here, installPacked, run } from "./install.mjs";

const dom = ["dom", "dom.iterable", "dom.asynciterable"];
const hosts = {
  Workers: {
    types: ["@cloudflare/workers-types"],
    include: ["examples/cloudflare-*/**/*", "host-types-workers.ts"],
  },
  // `deno check` brings the library of the web along.
  Deno: { types: ["deno"], lib: dom, include: ["examples/deno-deploy/*"] },
  // Its types want those of a newer Node than looplet does.
  Bun: { types: ["bun-types"], skipLibCheck: true, include: [] },
  Node: {
    types: ["node"],
    include: ["examples/*.mjs", "examples/ported/*", "examples/node-service/*"],
  },
  pages: { types: [], lib: dom, include: ["examples/offline-page/*", "examples/tools/*"] },
};
/** The files of the documentation that a Worker runs. `cloudflare:workers` comes from the host's types. */
const inWorkers = [
  "durable-objects/worker.ts",
  "keep-the-key/worker.ts",
  "durable-engines/workflow.ts",
  "cron-and-d1/worker.ts",
];
hosts.Workers.include.push(...inWorkers.map((file) => `docs/${dirname(file)}/*`));

let installed;
before(async () => {
  installed = await installPacked();
  const { folder } = installed;
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  for (const name of ["host-types.ts", "host-types-workers.ts"]) cpSync(join(here, name), join(folder, name));
  for (const { file, code } of examples) {
    const [page] = inWorkers.filter((one) => dirname(one) === dirname(file));
    if (page === undefined || (page.startsWith("keep") && !/worker|proxy/.test(file)) || /restate/.test(file))
      continue;
    mkdirSync(dirname(join(folder, "docs", file)), { recursive: true });
    writeFileSync(join(folder, "docs", file), code);
  }
  mkdirSync(join(folder, "node_modules/@types"));
  for (const [name, as] of [
    ["marked", "marked"],
    ["types-node-24", "@types/node"],
  ])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", as));
});
after(() => installed?.remove());

for (const [host, { types, lib = [], skipLibCheck = false, include }] of Object.entries(hosts))
  test(`the types of ${host} accept looplet, and every example for it`, async () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      allowJs: true,
      checkJs: true,
      skipLibCheck,
      target: "es2022",
      lib: ["esnext", ...lib],
      types,
      typeRoots: ["node_modules/@types", join(root, "node_modules/@types"), join(root, "node_modules")],
      module: "esnext",
      moduleResolution: "bundler",
    };
    const config = `tsconfig.${host}.json`;
    writeFileSync(
      join(installed.folder, config),
      JSON.stringify({ compilerOptions, include: ["host-types.ts", ...include] }),
    );
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    await run(process.execPath, [tsc, "-p", config], installed.folder, 300_000);
  });

test("every folder of examples belongs to a host", () => {
  const patterns = Object.values(hosts).flatMap(({ include }) => include);
  const homeless = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) =>
      patterns.every(
        (pattern) =>
          !new RegExp(`^examples/${pattern.split("/")[1]?.replaceAll("*", ".*")}$`).test(`examples/${name}`),
      ),
    );
  assert.deepEqual(
    homeless.map(({ name }) => name),
    [],
  );
});
