// Browsers, Deno and whatever has no condition of its own: the engine travels inside the JavaScript, because several
// bundlers lose a `.wasm` that stands beside it. What only some runs need is in files of its own.
import { files, lentAt } from "../../../target/glue/parts.js";
import { engine, joiner } from "../../../target/glue/primary.js";
import { Parts } from "../parts.js";
import { unpack } from "../unpack.js";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(
  () => unpack(engine, joiner),
  new Parts({ files, lentAt, unpack: (part) => unpack(part, joiner) }),
);

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
