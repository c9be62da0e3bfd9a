// `looplet/external`, which has no engine inside. Your page serves `looplet/looplet.wasm` and calls `init` with its
// URL, so that the browser compiles the file while it arrives and caches the compiled code.
export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
