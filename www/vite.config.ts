import { defineConfig } from "vite";

export default defineConfig({
  // The package stands beside the page; Vite takes it by its name, as any application would.
  server: { fs: { allow: [".."] } },
  optimizeDeps: {
    exclude: ["looplet", "looplet/practice", "looplet/replay", "looplet/stores", "looplet/trace"],
  },
  build: {
    outDir: "../target/www",
    emptyOutDir: true,
    target: "es2022",
    // The engine travels inside the JavaScript.
    chunkSizeWarningLimit: 1000,
  },
});
