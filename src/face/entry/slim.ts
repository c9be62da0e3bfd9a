// Without the engine inside: the host serves `looplet/looplet.wasm` itself and calls `init` with it.
export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
