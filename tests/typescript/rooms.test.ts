import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../src/typescript/", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts"));

/** The wings, and which others each may import. The README of a wing says the same. */
const MAY_IMPORT: { [wing: string]: string[] } = {
  core: [],
  extras: ["core"],
  server: ["core", "extras"],
  ui: ["core", "extras", "server"],
  lab: ["core", "extras", "server", "ui"],
  compat: ["core", "extras"],
};

/** The files of the TypeScript that each file imports, types included. */
const graph = new Map(
  sources.map((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(`${root}${file}`, "utf8"), true, true);
    const targets = importedFiles.map(({ fileName }) => posix.join(posix.dirname(file), fileName));
    return [
      file,
      targets
        .flatMap((target) => [target.replace(/\.js$/, ".ts"), target.replace(/\.js$/, ".tsx")])
        .filter((target) => sources.includes(target)),
    ];
  }),
);

const wingOf = (file: string): string => file.split("/")[0]!;

/** A folder of a wing is a room, and so is a file next to the folders. */
const roomOf = (file: string): string => file.split("/").slice(0, 2).join("/");

test("each wing imports only the wings that it may, types included", () => {
  const forbidden = [...graph].flatMap(([from, targets]) =>
    targets
      .filter((to) => wingOf(to) !== wingOf(from) && !MAY_IMPORT[wingOf(from)]?.includes(wingOf(to)))
      .map((to) => `${from} imports ${to}`),
  );
  expect([...new Set(sources.map(wingOf))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  expect(forbidden).toEqual([]);
});

/** The door of the core: what another wing may import of it. */
const isDoor = (file: string): boolean => /^core\/(index\.ts$|api\/|kit\/)/.test(file);

const program = fileURLToPath(new URL("../../src/cli/", import.meta.url));
const programFiles = readdirSync(program, { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".ts"),
);

test("the other wings and the program import the core by its door only, types included", () => {
  const outside = new Map([...graph].filter(([file]) => wingOf(file) !== "core"));
  for (const file of programFiles) {
    const { importedFiles } = ts.preProcessFile(readFileSync(`${program}${file}`, "utf8"), true, true);
    const from = `../cli/${file.replaceAll("\\", "/")}`;
    const targets = importedFiles.map(({ fileName }) => posix.join(posix.dirname(from), fileName));
    outside.set(
      from,
      targets
        .flatMap((target) => target.match(/^\.\.\/typescript\/(.*)\.js$/)?.[1] ?? [])
        .map((to) => `${to}.ts`),
    );
  }
  const past = [...outside].flatMap(([from, targets]) =>
    targets
      .filter((to) => wingOf(to) === "core" && !isDoor(to))
      .map(
        (to) =>
          `${from} imports ${to}. Import a public type from core/api, createAgent and its relatives from core/index, ` +
          "and the rest from core/kit. If core/kit lacks the name, and no public API does it, export it there.",
      ),
  );
  expect([...outside.values()].flat().filter(isDoor).length).toBeGreaterThan(300);
  expect(past).toEqual([]);
});

test("each name of the kit has a comment, and another wing or the program uses it", () => {
  const files = [...sources.filter((file) => wingOf(file) !== "core").map((file) => root + file)];
  const users = [...files, ...programFiles.map((file) => program + file)].map((file) =>
    readFileSync(file, "utf8"),
  );
  const imported = new Set(
    users.flatMap((text) =>
      [...text.matchAll(/\{([^}]*)\} from "[./\w]*core\/kit\/[\w-]+\.js"/g)].flatMap(([, names]) =>
        names!.split(",").map(
          (name) =>
            name
              .replace(/\btype\b/, "")
              .trim()
              .split(" as ")[0]!,
        ),
      ),
    ),
  );
  const wrong = sources
    .filter((file) => file.startsWith("core/kit/"))
    .flatMap((file) => {
      const text = readFileSync(`${root}${file}`, "utf8");
      const names: [name: string, start: number][] = [];
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isExportSpecifier(node)) names.push([node.name.text, node.getFullStart()]);
        ts.forEachChild(node, visit);
      };
      visit(source);
      return names.flatMap(([name, start]) => [
        ...(imported.has(name) ? [] : [`${file}: ${name} is used by no wing`]),
        ...(ts.getLeadingCommentRanges(text, start) === undefined ? [`${file}: ${name} has no comment`] : []),
      ]);
    });
  expect(wrong).toEqual([]);
});

test("each wing has a README that says what it may import", () => {
  for (const [wing, others] of Object.entries(MAY_IMPORT)) {
    const [, list] = /^May import: (.*)\.$/m.exec(readFileSync(`${root}${wing}/README.md`, "utf8"))!;
    expect([...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(others);
  }
});

test("no room of the TypeScript reaches itself by what it imports, types included", () => {
  const rooms = new Map<string, Set<string>>();
  for (const [from, targets] of graph)
    for (const to of targets)
      if (roomOf(to) !== roomOf(from))
        rooms.set(roomOf(from), (rooms.get(roomOf(from)) ?? new Set()).add(roomOf(to)));
  const reached = (room: string): Set<string> => {
    const seen = new Set<string>();
    const left = [...(rooms.get(room) ?? [])];
    for (let next = left.pop(); next !== undefined; next = left.pop())
      if (!seen.has(next)) left.push(...(rooms.get(seen.add(next) && next) ?? []));
    return seen;
  };
  expect(rooms.size).toBeGreaterThan(25);
  expect([...rooms.keys()].filter((room) => reached(room).has(room))).toEqual([]);
});

test("the core has what the main entry needs", () => {
  const reached = new Set<string>();
  const left = sources.filter((file) => file.startsWith("core/entry/"));
  for (let file = left.pop(); file !== undefined; file = left.pop())
    if (!reached.has(file)) left.push(...graph.get(reached.add(file) && file)!);
  const core = sources.filter((file) => wingOf(file) === "core");
  // The kit is for the other wings.
  expect(core.filter((file) => !reached.has(file) && !file.startsWith("core/kit/"))).toEqual([]);
  expect([...reached].filter((file) => file.startsWith("core/kit/"))).toEqual([]);
});

test("each room outside the core is a subpath of the package and has its name", () => {
  const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    exports: { [subpath: string]: string | { types: string } };
  };
  const main = /^\.$|^\.\/(inline$|external\b)/;
  const subpaths = Object.entries(exports).flatMap(([subpath, file]) =>
    typeof file === "string" || main.test(subpath) ? [] : [[subpath.slice(2), file.types] as const],
  );
  const misnamed = subpaths.filter(
    ([name, types]) =>
      types.replace(/^\.\/dist\/types\/(extras|server|ui|lab|compat)\/|(\/index)?\.d\.ts$/g, "") !== name,
  );
  expect(misnamed).toEqual([]);
  const rooms = sources
    .filter((file) => wingOf(file) !== "core" && file.split("/").length > 2)
    .map((file) => file.split("/")[1]!);
  const names = new Set(subpaths.map(([name]) => name));
  expect([...new Set(rooms)].filter((room) => !names.has(room))).toEqual([]);
});

const docs = new URL("../../docs/", import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, docs), "utf8");

/** The pages about the architecture: the overview and the folder next to it. */
const pages = [
  "architecture.md",
  ...readdirSync(new URL("architecture", docs)).map((name) => `architecture/${name}`),
];
const costs = "architecture/changes.md";

type Named = [name: string, file: string];

/** The rows of the page's tables that name things in a file: `| text | file | names |`. */
function* rows(page: string): Generator<Named> {
  for (const [, file, names] of read(page).matchAll(/^\|[^|]+\| `([^`]+\.(?:rs|tsx?))` \| ([^|]+) \|$/gm))
    for (const name of words(names!)) yield [name, file!];
}

/** Functions that a page says are in a file: those of its tables of steps, and each "`name` (`file`)" of its text. */
function* walked(page: string): Generator<Named> {
  if (page !== costs) yield* rows(page);
  for (const [, name, file] of read(page).matchAll(/`(#?\w+)` \(`([^`]+\.(?:rs|tsx?))`\)/g))
    if (/^#?[a-z]/.test(name!)) yield [name!, file!];
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

test("each function that the pages about the architecture name exists", () => {
  const named = pages.flatMap((page) => [...walked(page)]);
  expect(named.length).toBeGreaterThan(110);
  expect(named.filter(([name, file]) => !declares(file, name))).toEqual([]);
});

test("each name in the tables of what a change touches is in its file", () => {
  const named = [...rows(costs)];
  expect(named.length).toBeGreaterThan(45);
  expect(named.filter(([name, file]) => !new RegExp(`\\b${name}\\b`).test(codeOf(file)))).toEqual([]);
});

test("each path on the pages about the architecture exists", () => {
  const paths = pages.flatMap((page) => [
    ...read(page).matchAll(/`((?:src|crates|docs|tests|fuzz|scripts|www)\/[\w./-]+)`/g),
  ]);
  expect(paths.length).toBeGreaterThan(150);
  expect(paths.filter(([, path]) => !existsSync(new URL(`../${path!}`, docs)))).toEqual([]);
});

test("each page about the architecture is short, and the overview links it", () => {
  expect(pages.filter((page) => read(page).split(/\s+/).length > 1_500)).toEqual([]);
  const linked = [...read("architecture.md").matchAll(/\]\((architecture\/\w[\w-]*\.md)\)/g)].map(
    ([, page]) => page!,
  );
  expect(pages.filter((page) => !["architecture.md", ...linked].includes(page))).toEqual([]);
});

test("each link between the pages about the architecture leads to a page and a heading", () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s:]+)\)/g)].flatMap(([, link]) => {
      const [path, anchor] = link!.split("#");
      const target = path === "" ? page : posix.join(posix.dirname(page), path!);
      if (!existsSync(new URL(target, docs))) return [`${page}: ${link}`];
      const anchors = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        title!
          .toLowerCase()
          .replace(/[^\w\- ]/g, "")
          .replaceAll(" ", "-"),
      );
      return anchor === undefined || anchors.includes(anchor) ? [] : [`${page}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
