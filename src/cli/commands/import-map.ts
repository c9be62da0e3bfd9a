/** `looplet import-map`: how a page without a bundler finds the package on a CDN. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { init, parse } from "es-module-lexer";
import { VERSION } from "../../typescript/core/kit/tables.js";
import { UsageError, type Command } from "../command.js";
import { terminal } from "../terminal.js";

/** An import map: <https://html.spec.whatwg.org/multipage/webappapis.html#import-maps>. */
interface ImportMap {
  readonly imports: { [name: string]: string };
  /** The hash of each file, by its URL. */
  readonly integrity: { [url: string]: string };
}

export const importMap: Command = {
  about: "an import map for a page without a bundler, with hashes",
  arguments: ["ENTRY…"],
  help: "ENTRY is a part of the package, for example ui. The map always has looplet itself.",
  options: {
    base: { type: "string", value: "URL", about: "where the package's folder is; default: jsDelivr" },
  },
  json: "print the map without its HTML element",
  async run(names, options) {
    const map: ImportMap = { imports: {}, integrity: {} };
    const base = baseOf(options["base"]);
    const exports = await entries();
    const others = new Set<string>();
    const waiting = ["looplet", ...names.map((name) => `looplet/${name.replace(/^looplet\//, "")}`)];
    for (const name of waiting) {
      if (map.imports[name] !== undefined) continue;
      const entry = exports.get(name);
      if (entry === undefined) throw new UsageError(`there is no ${name} in this package`);
      map.imports[name] = new URL(entry, base).href;
      for (const other of await addFiles(entry, base, map)) {
        if (/^(?:node|cloudflare):/.test(other))
          throw new UsageError(`${name} needs a server: it imports ${other}`);
        if (exports.has(other)) waiting.push(other);
        else others.add(other);
      }
    }
    if (others.size > 0) terminal.tell(`Add the URLs of these packages too: ${[...others].join(", ")}`);
    const text = JSON.stringify(map, null, 2);
    terminal.print(options["json"] === true ? text : `<script type="importmap">\n${text}\n</script>`);
    return 0;
  },
};

/** @throws UsageError */
function baseOf(given: string | boolean | undefined): string {
  const base = String(given ?? `https://cdn.jsdelivr.net/npm/looplet@${VERSION}/`);
  if (!URL.canParse(base)) throw new UsageError(`--base needs a whole URL, got ${base}`);
  return base.endsWith("/") ? base : `${base}/`;
}

/** The folder of the package, from `dist/cli.js`. */
const folder = new URL("../", import.meta.url);

/**
 * The file of each entry, by its name. That of `looplet` has the engine in a module: a browser does not check the
 * hash of a `.wasm` file.
 */
async function entries(): Promise<Map<string, string>> {
  const { exports } = JSON.parse(await readFile(new URL("package.json", folder), "utf8")) as {
    exports: { [name: string]: { readonly default?: string } };
  };
  const files = new Map<string, string>();
  for (const [name, { default: file }] of Object.entries(exports))
    if (file?.endsWith(".js") === true && !name.includes("*")) files.set(name.replace(".", "looplet"), file);
  files.set("looplet", files.get("looplet/inline")!);
  return files;
}

/** Adds the hashes of a file and of the files that it loads to the map. Returns what they import by name. */
async function addFiles(file: string, base: string, map: ImportMap): Promise<Set<string>> {
  await init;
  const names = new Set<string>();
  const files = [new URL(file, folder)];
  for (const file of files) {
    const url = new URL(file.href.slice(folder.href.length), base).href;
    const source = await readFile(file);
    map.integrity[url] = `sha384-${createHash("sha384").update(source).digest("base64")}`;
    const [imports] = parse(source.toString("utf8"));
    for (const { n: name } of imports) {
      if (name === undefined) continue;
      if (!name.startsWith(".")) names.add(name);
      else if (!files.some(({ href }) => href === new URL(name, file).href)) files.push(new URL(name, file));
    }
  }
  return names;
}
