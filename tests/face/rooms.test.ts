import { build, type Metafile } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../src/face/", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));

/** From the lowest to the highest; `generated` holds what Rust writes. */
const ROOMS = ["generated", "api", "options", "tools", "models", "host", "hooks", "trace", "run", "agents"];

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
  expect([...folders].filter((folder) => !ROOMS.includes(folder)).sort()).toEqual(["entry", "practice"]);
});

/** Rows of `docs/architecture.md` that name functions of a file. */
function* walked(): Generator<[file: string, name: string]> {
  const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
  for (const [, file, names] of page.matchAll(/^\|[^|]+\| `([^`]+\.(?:rs|ts))` \| ([^|]+) \|$/gm))
    for (const [, name] of names!.matchAll(/`(#?\w+)`/g)) yield [file!, name!];
}

test("each function that the page about the architecture walks through exists", () => {
  const missing = [...walked()].filter(([file, name]) => {
    const code = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    const declared = file.endsWith(".rs") ? `\\bfn ${name}\\b` : `(?<![\\w.#])${name}(?:<\\w+>)?\\(`;
    return !new RegExp(declared).test(code);
  });
  expect([...walked()].length).toBeGreaterThan(40);
  expect(missing).toEqual([]);
});
