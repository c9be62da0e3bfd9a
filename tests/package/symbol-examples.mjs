// Finds the examples in the doc comments of the sources: the block of code after each `@example`.
//   ```ts    a module. It runs, unless it declares what its reader has
//   ```tsx   a component, which is compiled only
// A line that ends in `// prints "…"` prints this.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./docs-examples.mjs";

/** `{ name, file, code, runs, prints }` of each example. Its name is its source and its place there. */
export const symbolExamples = readdirSync(join(root, "src/typescript"), { recursive: true })
  .filter((source) => source.endsWith(".ts"))
  .flatMap((source) => {
    const text = readFileSync(join(root, "src/typescript", source), "utf8");
    return [...text.matchAll(/^ *\* @example\n *\* ```(tsx?)\n([\s\S]*?)^ *\* ```$/gm)].map(
      ([, language, commented], at) => {
        const name = `${source.replace(/\.ts$/, "")}-${at + 1}`;
        const code = commented.replace(/^ *\* ?/gm, "");
        return {
          name,
          file: `${name.replaceAll("/", "-")}.${language}`,
          code,
          runs: language === "ts" && !/^declare /m.test(code),
          prints: [...code.matchAll(/\/\/ prints "(.*)"$/gm)].map(([, line]) => line),
        };
      },
    );
  });
