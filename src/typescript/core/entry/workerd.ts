// Cloudflare Workers: the engine is imported as a module, because workerd compiles no WebAssembly from bytes.
import wasm from "./looplet.wasm";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => wasm);

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
