// Browsers, Deno and whatever has no condition of its own: the engine travels inside the JavaScript, because several
// bundlers lose a `.wasm` that stands beside it.
import wasmGzipBase64 from "../../../target/glue/inline.js";
import { inflate } from "../inflate.js";
import { setWasmSource } from "../wasm.js";

setWasmSource(() => inflate(wasmGzipBase64));

export * from "../index.js";
export { init, type WasmSource } from "../wasm.js";
