// The tab "Screens" of the playground: installs assistant-ui and CopilotKit, which have 500 MB, into the cache, and
// bundles the tab with them into www/public/screens.
import { join } from "node:path";
import { root, step, versions } from "./lib/machine.mjs";
import { npmTool } from "./setup.mjs";

export async function bundleScreens() {
  const others = ["@assistant-ui/react", "@assistant-ui/react-ai-sdk"];
  const folder = await npmTool(
    "@copilotkit/react-core",
    versions["@copilotkit/react-core"],
    "--ignore-scripts",
    "zod@4",
    ...others.map((name) => `${name}@${versions[name]}`),
  );
  const packages = join(folder, "node_modules");
  // Set-up may have just installed it.
  const { build } = await import("esbuild");
  await step("bundling the tab Screens", () =>
    build({
      absWorkingDir: root,
      entryPoints: ["www/src/screens/chats.jsx"],
      outdir: "www/public/screens",
      bundle: true,
      format: "esm",
      minify: true,
      ignoreAnnotations: true,
      jsx: "automatic",
      nodePaths: [packages],
      // One React for all, and the AG-UI that CopilotKit speaks.
      alias: {
        react: join(root, "node_modules/react"),
        "react-dom": join(root, "node_modules/react-dom"),
        "@ag-ui/client": join(packages, "@ag-ui/client"),
      },
      define: { "process.env.NODE_ENV": '"production"' },
      loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
      logLevel: "error",
    }),
  );
}
