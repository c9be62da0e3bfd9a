// Node and Bun: the engine is read from the file beside this one. In a bundled server there is none, so it also travels
// inside the JavaScript, in a module of its own that is loaded only then: to load and unpack it costs more than to compile it.
import { readFileSync } from "node:fs";
import wasmBytes from "../../../target/glue/length.js";
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
  const [{ engine, joiner }, { join }, { Buffer }, { gunzipSync }] = await Promise.all([
    import("../../../target/glue/inline.js"),
    import("../unpack.js"),
    import("node:buffer"),
    import("node:zlib"),
  ]);
  return join(gunzipSync(Buffer.from(engine, "base64")), Buffer.from(joiner, "base64"));
}

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
