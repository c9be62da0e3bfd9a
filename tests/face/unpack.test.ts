import { readFile } from "node:fs/promises";
import binaryen from "binaryen";
import { expect, it } from "vitest";
import { ordered } from "../../scripts/lib/order-wasm.mjs";
import { packed } from "../../scripts/lib/pack-wasm.mjs";
import { join, unpack } from "../../src/face/unpack.js";
import { engine, joiner } from "../../target/glue/inline.js";

it("the engine that browsers carry is the one that was built, byte for byte", async () => {
  const built = await readFile(new URL("../../target/glue/looplet_bg.wasm", import.meta.url));
  const unpacked = await unpack(engine, joiner);
  expect(Buffer.compare(unpacked, built)).toBe(0);
  await WebAssembly.compile(unpacked);
});

// All that the sorting treats in a way of its own: usual and unusual immediates, constants by what follows, locals that
// come again, addresses, functions that call each other, one that is longer than 127 bytes.
const text = `(module
  (type $unary (func (param i32) (result i32)))
  (import "host" "log" (func $log (param i32)))
  (memory (export "memory") 17)
  (table 4 4 funcref)
  (elem (i32.const 1) $add $many)
  (global $first (mut i32) (i32.const 5))
  (global $second (mut i64) (i64.const 9))
  (data (i32.const 1048580) "\\07\\00\\00\\00")
  (func $add (param $a i32) (result i32) (local $b i32) (local $c i64)
    (local.set $b (i32.add (local.get $a) (i32.const 1000)))
    (local.set $c (i64.const -3))
    (i32.store offset=4 align=1 (i32.const 1048576) (local.get $b))
    (i64.store offset=300 (i32.const 0) (i64.add (local.get $c) (global.get $second)))
    (global.set $first (i32.add (i32.load8_u (i32.const 1048580)) (i32.load offset=4 (i32.const 1048576))))
    (i32.sub (global.get $first) (local.get $b)))
  (func $many (param $n i32) (result i32)
    (block $three (block $two (block $one
      (br_table $one $two $three (local.get $n)))
      (return (call_indirect (type $unary) (i32.const 300) (i32.const 1))))
      (return (if (result i32) (i32.eq (local.get $n) (i32.const 1)) (then (i32.const -1114112)) (else (i32.const 1)))))
    (try (do (call $log (i32.wrap_i64 (i64.load offset=300 (i32.const 0))))) (catch_all (call $log (i32.const 8))))
    (memory.fill (i32.const 16) (i32.const 1) (i32.const 4))
    (i32.or (i32.load align=2 (i32.const 16)) (call $add (local.get $n))))
  (func $last (export "run") (param $n i32) (result i32) (call $many (local.get $n))))`;

it("a module whose functions are sorted and whose bytes are packed does the same when it is put together", async () => {
  const module = binaryen.parseText(text);
  module.setFeatures(binaryen.Features.All);
  const whole = module.emitBinary();
  const sorted = ordered(whole);
  expect(Buffer.compare(sorted, whole)).not.toBe(0);
  const bytes = Buffer.from(joiner, "base64");
  for (const wasm of [whole, sorted])
    expect(Buffer.from(join(packed(wasm), bytes)).equals(Buffer.from(wasm))).toBe(true);
  const results = [];
  for (const wasm of [whole, sorted]) {
    const log: number[] = [];
    const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
      host: { log: (n: number) => log.push(n) },
    });
    const { run } = instance.exports as { run(n: number): number };
    results.push([run(0), run(1), run(2), ...log]);
  }
  expect(results[1]).toEqual(results[0]);
  expect(results[0]).toEqual([20, -1114112, 16843243, 6]);
});
