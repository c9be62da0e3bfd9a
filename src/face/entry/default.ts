// Browsers, Deno and runtimes without a condition of their own. The engine travels inside the JavaScript, because
// several bundlers lose a `.wasm` that stands beside it.
import { gzip } from "../../../target/glue/inline.js";
import { inflate } from "../host/inflate.js";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => inflate(gzip));

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
