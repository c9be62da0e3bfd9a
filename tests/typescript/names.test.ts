import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The names that a system by name has of its own, and that are another thing elsewhere. No other name of the package
 * is two things.
 */
const THEIRS = {
  "agent-sdk": [
    ...["CanUseTool", "ElicitationRequest", "HookEvent", "ModelUsage", "OnElicitation", "OutputFormat"],
    ...["PermissionResult", "tool"],
  ],
  guide: ["agentLoop"],
  sprout: ["agentLoop"],
  prompty: ["Guardrails", "Message", "Reconciliation", "ToolHandler", "Tracer"],
};

/** The source of the types of each subpath. */
function sources(): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    exports: { [subpath: string]: string | { types: string } };
  };
  const typed = Object.entries(exports).flatMap(([subpath, file]) =>
    typeof file === "string" || subpath.includes("*") ? [] : [[subpath, file.types] as const],
  );
  const sourceOf = (types: string): string =>
    types.replace("./dist/types/", `${root}src/typescript/`).replace(/\.d\.ts$/, ".ts");
  return new Map(typed.map(([subpath, types]) => [subpath, sourceOf(types)]));
}

/** Each name of each subpath, and the symbol that it stands for. */
function* exported(): Generator<[subpath: string, name: string, symbol: ts.Symbol, checker: ts.TypeChecker]> {
  const files = sources();
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([...files.values()], options);
  const checker = program.getTypeChecker();
  for (const [subpath, file] of files)
    for (const symbol of checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(file)!)!,
    )) {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      yield [subpath, symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol, checker];
    }
}

/** The places where each name of the package is declared. */
function declared(): Map<string, Set<ts.Declaration>> {
  const places = new Map<string, Set<ts.Declaration>>();
  for (const [subpath, name, { declarations }] of exported()) {
    if (THEIRS[subpath.slice(2) as keyof typeof THEIRS]?.includes(name)) continue;
    places.set(name, (places.get(name) ?? new Set()).add(declarations![0]!));
  }
  return places;
}

test("a name of the package is one thing, whichever subpath exports it", { timeout: 60_000 }, () => {
  const places = declared();
  expect(places.size).toBeGreaterThan(600);
  const twice = [...places].filter(([, { size }]) => size > 1).map(([name]) => name);
  expect(twice).toEqual([]);
});

test("each name of the preview wing says @beta, and no other name does", { timeout: 60_000 }, () => {
  const wrong: string[] = [];
  for (const [subpath, name, symbol, checker] of exported()) {
    const isPreview = symbol.declarations![0]!.getSourceFile().fileName.includes("/src/typescript/lab/");
    const isBeta = symbol.getJsDocTags(checker).some((tag) => tag.name === "beta");
    if (isBeta !== isPreview) wrong.push(`${subpath} ${name}`);
  }
  expect(wrong).toEqual([]);
});
