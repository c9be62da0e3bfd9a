import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bytesOf } from "../../../src/typescript/core/host/text-bytes.js";
import { wasm } from "../../../target/glue/inline.js";
import { wasmBytes } from "../../../target/glue/length.js";

it("what the default entry carries is the .wasm of the package, byte for byte", () => {
  const file = readFileSync(new URL("../../../target/glue/looplet_bg.wasm", import.meta.url));
  expect(Buffer.from(bytesOf(wasm, wasmBytes)).equals(file)).toBe(true);
});

it("every byte comes out as it went in", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  expect(bytesOf(String.fromCharCode(...bytes), 256)).toEqual(bytes);
});

it("a text that was read in another charset says what to do", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  const utf8 = new TextEncoder().encode(String.fromCharCode(...bytes));
  const misread = new TextDecoder("windows-1252").decode(utf8);
  expect(() => bytesOf(misread, 256)).toThrow(/charset/);
});
