// Browsers, Deno and runtimes without a condition of their own. A page streams the `.wasm` if its bundler or its
// server has the file. Otherwise the engine is text in a JavaScript module, because several bundlers lose a `.wasm`
// file. A bundler that splits makes a file of that module, which is requested only if it is needed.
import { wasmBytes } from "../../../../target/glue/length.js";
import { bytesOf } from "../host/text-bytes.js";
import { setWasmSource } from "../host/wasm.js";
import { servedFile, streamed } from "./streamed.js";

const load = () => import("../../../../target/glue/inline.js");
// Bundlers look for exactly this expression.
const file = servedFile(() => new URL("./looplet.wasm", import.meta.url), wasmBytes);
// It comes while the page does other things. If it fails, the first run tries again and reports the error.
const coming = (file === undefined ? load() : streamed(file).catch(load)).catch(() => undefined);

setWasmSource(async () => {
  const engine = (await coming) ?? (await load());
  return "module" in engine ? engine.module : bytesOf(engine.wasm, wasmBytes);
});

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
