// The report of the public API: api/names.txt has the names of each subpath, api/signatures.txt the declaration of
// each name and of each type that it leads to, without comments. `npm run check` compares them with the package, so
// that a review sees each change of a signature. `npm run api` writes them.
// API Extractor reads one entry at a time; the package has more than forty, which share most of their types.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { build, typesOf } from "./build.mjs";
import { fail, isMain, root } from "./lib/machine.mjs";

/** Whether the files say what the package has. */
export function checkApi() {
  const changed = Object.entries(report()).filter(([name, text]) => read(name) !== text);
  for (const [name, text] of changed) {
    const [was, is] = [read(name), text].map((all) => all.split("\n"));
    for (const line of was.filter((line) => !is.includes(line)).slice(0, 20)) console.log(`  - ${line}`);
    for (const line of is.filter((line) => !was.includes(line)).slice(0, 20)) console.log(`  + ${line}`);
  }
  const result = changed.length === 0 ? "✓ the public API is" : "✗ run `npm run api`: the public API is not";
  console.log(`${result} as in the folder api`);
  return changed.length === 0;
}

const read = (name) => readFileSync(join(root, "api", name), "utf8");

function report() {
  const ts = createRequire(join(root, "package.json"))("typescript");
  const entries = typesOf();
  const options = { lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [], moduleResolution: 100, module: 99 };
  const program = ts.createProgram([...entries.values()], options);
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter({ removeComments: true });
  const target = (symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

  const names = [];
  const left = [];
  for (const [subpath, file] of entries) {
    const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)));
    left.push(...exported.map(target));
    const sorted = exported.map(({ name }) => name).sort();
    names.push(`${subpath}\n${sorted.map((name) => `  ${name}\n`).join("")}`);
  }

  const seen = new Set();
  const signatures = new Set();
  for (let symbol = left.pop(); symbol !== undefined; symbol = left.pop()) {
    if (seen.has(symbol)) continue;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      const file = declaration.getSourceFile();
      if (relative(join(root, "dist/types"), file.fileName).startsWith("..")) continue;
      const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      // A part of a declaration is printed with it.
      if (node.parent !== file) continue;
      const text = printer.printNode(ts.EmitHint.Unspecified, node, file);
      signatures.add(`${symbol.name}: ${text.replace(/^export (default )?/, "").replace(/^declare /, "")}\n`);
      const visit = (child) => {
        const used = ts.isIdentifier(child) && checker.getSymbolAtLocation(child);
        if (used) left.push(target(used));
        ts.forEachChild(child, visit);
      };
      visit(node);
    }
  }
  return { "names.txt": names.join("\n"), "signatures.txt": [...signatures].sort().join("\n") };
}

if (isMain(import.meta.url)) {
  await build().catch(fail);
  for (const [name, text] of Object.entries(report())) writeFileSync(join(root, "api", name), text);
}
