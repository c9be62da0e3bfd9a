// Node and Bun: the engine travels inside the JavaScript, so that a bundled server needs no file beside it.
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import wasmGzipBase64 from "../../../target/glue/inline.js";
import { setWasmSource } from "../wasm.js";

setWasmSource(() => gunzipSync(Buffer.from(wasmGzipBase64, "base64")));

export * from "../index.js";
export { init, type WasmSource } from "../wasm.js";
