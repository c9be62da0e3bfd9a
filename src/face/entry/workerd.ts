// Cloudflare Workers: workerd compiles no WebAssembly from bytes, the module is imported.
import wasm from "./looplet.wasm";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => wasm);

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
