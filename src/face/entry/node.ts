// Node and Bun: the engine is read from the file beside this one. A bundle of a server has no such file: the engine also
// travels inside a module that is bundled with it, and is loaded only then.
import { readFileSync } from "node:fs";
import { wasmBytes } from "../../../target/glue/length.js";
import { setWasmSource } from "../host/wasm.js";

setWasmSource(() => beside() ?? inside());

// Named where no bundler looks for files to copy.
const FILE = "./looplet.wasm";

function beside(): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = readFileSync(new URL(FILE, import.meta.url));
    // Beside a bundle there may be the file of another version.
    return bytes.length === wasmBytes ? bytes : undefined;
  } catch {
    return undefined;
  }
}

async function inside(): Promise<Uint8Array<ArrayBuffer>> {
  const [{ gzip }, { inflate }] = await Promise.all([
    import("../../../target/glue/inline.js"),
    import("../host/inflate.js"),
  ]);
  return inflate(gzip);
}

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
