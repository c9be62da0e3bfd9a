// Finds the examples of README.md and docs/, and makes modules of them that a test can run.
//   ```js, ```ts            an example of its page, named by its number there: `tools-2`. It may use the names of
//                           docs-names.ts
//   ```ts agent.ts          a file of the reader's project, named by page and file: `react/agent.ts`. It stands alone,
//                           and may import the other files of its page
//   ```html index.html      a page of the reader's project
//   ```jsonc wrangler.jsonc a configuration of it, whole
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The pages with their folders, from the root. */
export const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...markdownIn("docs")];

function markdownIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

/** `{ name, file, code }` of each example; `file` is its path among the examples. */
export const examples = pages.flatMap((page) => {
  const own = basename(page, ".md");
  let at = 0;
  return [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /^```(js|ts|tsx|html|jsx|jsonc)(?: (\S+))?\n([\s\S]*?)^```/gm,
    ),
  ].map(([, language, file, code]) =>
    file === undefined
      ? { name: `${own}-${++at}`, language, file: `${own}-${at}.ts`, code: moduleOf(code) }
      : { name: `${own}/${file}`, language, file: `${own}/${file}`, code, standsAlone: true },
  );
});

/**
 * The block as a module that gives away what it has made and imported; what it makes without a name is `made1`,
 * `made2`. A block that throws is one that a tool would run.
 */
function moduleOf(code) {
  if (code.startsWith("throw ")) return `export function thrown() {\n${code}}\n`;
  let at = 0;
  const named = code.replace(
    /^(?=(?:createAgent|bedrock|compatible|agent\.run)\()/gm,
    () => `const made${++at} = `,
  );
  const made = [...named.matchAll(/^const (\w+) =/gm)].map(([, name]) => name);
  const imported = [...named.matchAll(/^import \{ (.*) \} from/gm)].flatMap(([, names]) =>
    names.split(", ").filter((name) => !name.startsWith("type ")),
  );
  return `${named}export { ${[...made, ...imported].join(", ")} };\n`;
}
