// Node and Bun: the engine travels inside the JavaScript, so that a bundled server needs no file beside it.
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { engine } from "../../../target/glue/inline-gzip.js";
import { setWasmSource } from "../wasm.js";

setWasmSource(() => gunzipSync(Buffer.from(engine, "base64")));

export * from "../index.js";
export { init, type WasmSource } from "../wasm.js";
