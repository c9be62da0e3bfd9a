// `looplet/inline`, which holds the engine in the module itself. Service workers may load no module later.
import { wasm } from "../../../../target/glue/inline.js";
import { wasmBytes } from "../../../../target/glue/length.js";
import { bytesOf } from "../host/text-bytes.js";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => bytesOf(wasm, wasmBytes));

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
