// The same programs against the published types of the Claude Agent SDK and against looplet/agent-sdk. A line that
// ends with `// looplet: why` compiles only there, one with `// sdk: why` only here; every other line compiles with
// both.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { installPacked } from "../install.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const sdk = process.env.LOOPLET_CLAUDE_SDK;
const modules = at("../../../node_modules");
const programs = Object.fromEntries(
  readdirSync(at("sdk-programs")).map((name) => [name, readFileSync(at(`sdk-programs/${name}`), "utf8")]),
);
let installed, published;

before(async () => {
  installed = await installPacked();
  symlinkSync(join(modules, "zod"), join(installed.folder, "node_modules/zod"));
  published = mkdtempSync(join(tmpdir(), "looplet-sdk-types-"));
  symlinkSync(sdk, join(published, "node_modules"));
});
after(() => {
  installed?.remove();
  if (published) rmSync(published, { recursive: true, force: true });
});

test("programs of the Claude Agent SDK compile with its published types", () => {
  compare(
    errorsOf(published, (text) => text),
    "sdk",
  );
});

test("they compile with looplet/agent-sdk, but for the lines that say why not", () => {
  compare(
    errorsOf(installed.folder, (text) =>
      text.replaceAll("@anthropic-ai/claude-agent-sdk", "looplet/agent-sdk"),
    ),
    "looplet",
  );
});

/** The errors of tsc, by `file:line`. */
function errorsOf(folder, translated) {
  mkdirSync(join(folder, "programs"));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, "programs", name), translated(text));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2022",
    lib: ["es2023", "dom", "dom.asynciterable"],
    module: "preserve",
    moduleResolution: "bundler",
    typeRoots: [join(modules, "@types")],
    types: ["node"],
  };
  writeFileSync(join(folder, "programs/tsconfig.json"), JSON.stringify({ compilerOptions }));
  const tsc = join(modules, "typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "--pretty", "false", "-p", join(folder, "programs")], {
    cwd: join(folder, "programs"),
    encoding: "utf8",
  });
  const errors = new Map();
  for (const [, file, line, text] of stdout.matchAll(/^(\S+\.ts)\((\d+),\d+\): error (.*)$/gm))
    errors.set(`${file}:${line}`, `${errors.get(`${file}:${line}`) ?? ""}${text} `);
  assert.ok(errors.size > 0 || stdout.trim() === "", stdout);
  return errors;
}

/** Every error is at a line that says why, and each such line has one. */
function compare(errors, side) {
  const marked = new Set();
  for (const [name, text] of Object.entries(programs))
    text.split("\n").forEach((line, index) => {
      if (line.includes(`// ${side}: `)) marked.add(`${name}:${index + 1}`);
    });
  const unexplained = [...errors].filter(([place]) => !marked.has(place));
  assert.deepEqual(unexplained, [], "errors without a reason");
  assert.deepEqual(
    [...marked].filter((place) => !errors.has(place)),
    [],
    "reasons without an error",
  );
}
