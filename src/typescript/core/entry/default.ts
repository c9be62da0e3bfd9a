// Browsers, Deno and runtimes without a condition of their own. The engine travels inside the JavaScript, because
// several bundlers lose a `.wasm` file next to it. A bundler that splits makes a file of it, which holds no
// page up.
import { wasmBytes } from "../../../../target/glue/length.js";
import { bytesOf } from "../host/text-bytes.js";
import { setWasmSource } from "../host/wasm.js";

const load = () => import("../../../../target/glue/inline.js");
// It comes while the page does other things. If it fails, the first run tries again and reports the error.
const coming = load().catch(() => undefined);

setWasmSource(async () => {
  const { wasm } = (await coming) ?? (await load());
  return bytesOf(wasm, wasmBytes);
});

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
