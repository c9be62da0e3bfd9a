// Without the engine inside: your page serves `looplet/looplet.wasm` beside it and calls `init` with its URL, so that the
// browser compiles it while it arrives and keeps the compiled code.
export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
