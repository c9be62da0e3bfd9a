// Edge runtimes with the condition `edge-light` (Vercel), which import a WebAssembly module with the suffix
// `?module`.
import wasm from "./looplet.wasm?module";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => wasm);

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
