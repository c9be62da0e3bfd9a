import { build, type Metafile } from "esbuild";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../src/face/", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));

/** From the lowest to the highest; `generated` holds what Rust writes. */
const ROOMS = [
  "generated",
  "api",
  "options",
  "tools",
  "models",
  "host",
  "hooks",
  "trace",
  "run",
  "chat",
  "agents",
  "facades",
];

/** The files that each file imports when it runs. Imports of types are gone from the bundle. */
async function valueImports(): Promise<Map<string, string[]>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: sources,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    external: [
      "node:*",
      "*.wasm",
      "*.wasm?module",
      "yaml",
      fileURLToPath(new URL("../../target/glue/*", import.meta.url)),
    ],
    write: false,
    outdir: "out",
    metafile: true,
  });
  const inside = ({ imports }: Metafile["inputs"][string]): string[] =>
    imports.filter(({ external }) => external !== true).map(({ path }) => path);
  return new Map(Object.entries(metafile.inputs).map(([path, input]) => [path, inside(input)]));
}

const graph = await valueImports();

/** The files on a way from `file` back to it. */
function circleAt(file: string): string[] | undefined {
  const ways = graph.get(file)!.map((next) => [file, next]);
  const seen = new Set<string>();
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const last = way.at(-1)!;
    if (last === file) return way;
    if (seen.has(last)) continue;
    seen.add(last);
    ways.push(...graph.get(last)!.map((next) => [...way, next]));
  }
  return undefined;
}

test("no file of the face reaches itself by what it imports", () => {
  expect(graph.size).toBe(sources.length);
  expect(sources.map(circleAt).filter((circle) => circle !== undefined)).toEqual([]);
});

test("each room of the face imports values only from the rooms below it", () => {
  const level = (path: string): number => ROOMS.indexOf(path.split("/")[0]!);
  const upward = [...graph].flatMap(([from, targets]) =>
    targets.filter((to) => level(from) >= 0 && level(to) > level(from)).map((to) => `${from} imports ${to}`),
  );
  expect(upward).toEqual([]);
});

test("a room of the face that is not in the list is a subpath or an entry of the package", () => {
  const folders = new Set(sources.filter((path) => path.includes("/")).map((path) => path.split("/")[0]!));
  expect([...folders].filter((folder) => !ROOMS.includes(folder)).sort()).toEqual([
    "agent-sdk",
    "builtin-tools",
    "cloudflare",
    "entry",
    "guide",
    "mcp",
    "practice",
    "production",
    "prompty",
    "replay",
    "sessions",
    "sprout",
    "steps",
    "stores",
    "testing",
    "transcript",
    "vfs",
    "workers",
  ]);
});

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");

type Named = [name: string, file: string];

/** Functions that the page says are in a file: those of its tables of steps, and each "`name` (`file`)" of its text. */
function* walked(): Generator<Named> {
  for (const [, file, names] of page.matchAll(/^\|[^|]+\| `([^`]+\.(?:rs|ts))` \| ([^|]+) \|$/gm))
    for (const name of words(names!)) yield [name, file!];
  for (const [, name, file] of page.matchAll(/`(#?\w+)` \(`([^`]+\.(?:rs|ts))`\)/g))
    if (/^#?[a-z]/.test(name!)) yield [name!, file!];
}

/** Names that the table of costs puts into a file: those of a clause that ends with the file. */
function* costed(): Generator<Named> {
  const [, table] = /^## What a change costs$(.*?)^The /ms.exec(page)!;
  for (const [, clause, file] of table!.matchAll(/([^;|]+?) (?:in |\()`([^`]+\.(?:rs|ts))`/g))
    for (const name of words(clause!)) yield [name, file!];
}

const words = (text: string): string[] => [...text.matchAll(/`(#?\w+)`/g)].map(([, name]) => name!);
const codeOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

/** Returns true if the file declares the function or method. A call of it is not enough. */
function declares(file: string, name: string): boolean {
  const code = codeOf(file);
  if (file.endsWith(".rs")) return new RegExp(`\\bfn ${name}\\b`).test(code);
  let isFound = false;
  const visit = (node: ts.Node): void => {
    const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
    if (isFunction && node.name?.getText() === name) isFound = true;
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true));
  return isFound;
}

test("each function that the page about the architecture walks through exists", () => {
  expect([...walked()].length).toBeGreaterThan(60);
  expect([...walked()].filter(([name, file]) => !declares(file, name))).toEqual([]);
});

test("each name in the table of costs stands in its file", () => {
  expect([...costed()].length).toBeGreaterThan(20);
  expect([...costed()].filter(([name, file]) => !new RegExp(`\\b${name}\\b`).test(codeOf(file)))).toEqual([]);
});

test("each path on the page about the architecture exists", () => {
  const paths = [...page.matchAll(/`((?:src|crates|docs|tests|fuzz)\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(60);
  expect(paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});
