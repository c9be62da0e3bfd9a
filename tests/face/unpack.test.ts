import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { unpack } from "../../src/face/unpack.js";
import { engine, joiner } from "../../target/glue/inline.js";

it("the engine that browsers carry is the one that was built, byte for byte", async () => {
  const built = await readFile(new URL("../../target/glue/looplet_bg.wasm", import.meta.url));
  const unpacked = await unpack(engine, joiner);
  expect(Buffer.compare(unpacked, built)).toBe(0);
  await WebAssembly.compile(unpacked);
});
