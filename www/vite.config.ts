import { defineConfig } from "vite";

export default defineConfig({
  // The package is next to the page. Vite resolves it by its name, as in any application.
  server: { fs: { allow: [".."] } },
  optimizeDeps: {
    exclude: [
      "looplet",
      "looplet/agent-sdk",
      "looplet/devtools",
      "looplet/devtools/publish",
      "looplet/practice",
      "looplet/sessions",
      "looplet/stores",
      "looplet/trace",
      "looplet/ui",
      "looplet/vfs",
    ],
  },
  build: {
    outDir: "../target/www",
    emptyOutDir: true,
    target: "es2022",
    rollupOptions: {
      input: ["index.html", "query.html", "screens.html"].map(
        (page) => new URL(page, import.meta.url).pathname,
      ),
    },
    // The engine travels inside the JavaScript.
    chunkSizeWarningLimit: 1000,
  },
});
