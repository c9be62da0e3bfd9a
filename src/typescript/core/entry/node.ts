// Node and Bun: the engine is read from the file next to this one. In a server's bundle that file is missing. So a
// module that is bundled along holds the engine too, and is loaded only then.
import { readFileSync } from "node:fs";
import process from "node:process";
import { wasmBytes } from "../../../../target/glue/length.js";
import { bytesOf } from "../host/text-bytes.js";
import { setWasmSource } from "../host/wasm.js";
import { setRootCheck } from "../options/root-user.js";

setWasmSource(() => beside() ?? inside());
// IS_SANDBOX is the word of Claude Code for a place where root may do no harm.
setRootCheck(() => process.getuid?.() === 0 && process.env["IS_SANDBOX"] !== "1");

// The name is in a variable, so that bundlers do not copy the file.
const FILE = "./looplet.wasm";

function beside(): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = readFileSync(new URL(FILE, import.meta.url));
    // The file next to a bundle may belong to another version.
    return bytes.length === wasmBytes ? bytes : undefined;
  } catch {
    return undefined;
  }
}

async function inside(): Promise<Uint8Array<ArrayBuffer>> {
  const { wasm } = await import("../../../../target/glue/inline.js");
  return bytesOf(wasm, wasmBytes);
}

export * from "../index.js";
export { init, type WasmSource } from "../host/wasm.js";
