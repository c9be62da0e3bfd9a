// Browsers, Deno and whatever has no condition of its own: the engine travels inside the JavaScript, because several
// bundlers lose a `.wasm` that stands beside it.
import { engine, joiner } from "../../../target/glue/inline.js";
import { unpack } from "../unpack.js";
import { setWasmSource } from "../wasm.js";

setWasmSource(() => unpack(engine, joiner));

export * from "../index.js";
export { init, type WasmSource } from "../wasm.js";
