// One module with `looplet`, `looplet/ui` and `looplet/practice`, for a demo in a single file.
import { join } from "node:path";
import { build } from "esbuild";

/** Writes the module of the package in `folder` to `file`. */
export async function writeStandalone(folder, file) {
  const dist = (name) => join(folder, "dist", `${name}.js`);
  const contents = ["inline", "ui", "practice"].map((name) => `export * from ${JSON.stringify(dist(name))};`);
  await build({
    stdin: { contents: contents.join("\n"), resolveDir: folder },
    alias: { looplet: dist("inline") },
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    // Escapes would make the text of the engine longer.
    charset: "utf8",
    legalComments: "none",
    outfile: file,
    logLevel: "error",
  });
}
