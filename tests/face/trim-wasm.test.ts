import binaryen from "binaryen";
import { expect, it } from "vitest";
import { packed } from "../../scripts/lib/pack-wasm.mjs";
import { trimmed } from "../../scripts/lib/trim-wasm.mjs";

// In `engine` branches leave a block through a `try`, a pad holds another `try`, and a `delegate` skips one.
const text = `(module
  (type $none (func))
  (import "host" "log" (func $log (param i32)))
  (import "host" "throws" (func $throws))
  (func $engine (param $depth i32)
    (block $out
      (try
        (do
          (br_if $out (i32.eq (local.get $depth) (i32.const 5)))
          (try $far
            (do
              (try
                (do (call $throws))
                (delegate $far)))
            (catch_all
              (try
                (do (call $log (i32.const 1)))
                (catch_all (call $log (i32.const 2)) (rethrow 0)))
              (rethrow 0))))
        (catch_all (call $log (i32.const 3)) (rethrow 0))))
    (call $log (i32.const 4)))
  (func $unused (call $log (i32.const 99)))
  (func $shell (param $depth i32) (result i32)
    (try (result i32)
      (do (call $engine (local.get $depth)) (i32.const 0))
      (catch_all (call $log (i32.const 9)) (i32.const 7))))
  (export "shell" (func $shell))
  (export "unused" (func $unused)))`;

async function run(wasm: Uint8Array, depth: number): Promise<number[]> {
  const log: number[] = [];
  const host = {
    log: (line: number) => log.push(line),
    throws: () => {
      throw new Error("thrown");
    },
  };
  const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), { host });
  const { shell } = instance.exports as { shell(depth: number): number };
  return [...log, shell(depth)].concat(log);
}

function assembled(): Uint8Array {
  binaryen.setDebugInfo(true);
  const module = binaryen.parseText(text);
  module.setFeatures(binaryen.Features.All);
  return module.emitBinary();
}

it("what unwinds passes the engine without its pads and is caught by the shell; all else is as before", async () => {
  const whole = assembled();
  const { wasm, stripped } = trimmed(whole, {
    keepsPads: (name: string) => name === "shell",
    isDead: (name: string) => name === "unused",
  });
  expect(stripped).toBe(1);
  expect(await run(whole, 0)).toEqual([7, 1, 3, 9]);
  expect(await run(wasm, 0)).toEqual([7, 9]);
  expect(await run(whole, 5)).toEqual([0, 4]);
  expect(await run(wasm, 5)).toEqual([0, 4]);
  const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
    host: { log: () => {}, throws: () => {} },
  });
  expect(() => (instance.exports as { unused(): void }).unused()).toThrow(WebAssembly.RuntimeError);
});

it("a silent function returns 0, and a dead one that something calls is refused", async () => {
  binaryen.setDebugInfo(true);
  const wasm = binaryen
    .parseText(
      `(module
        (func $formats (result i32) (i32.const 5))
        (func $panics (export "panics") (result i32) (call $formats)))`,
    )
    .emitBinary();
  const keeps = { keepsPads: () => true, isDead: (_name: string): boolean => false };
  const silent = trimmed(wasm, { ...keeps, isSilent: (name: string) => name === "formats" });
  const { instance } = await WebAssembly.instantiate(new Uint8Array(silent.wasm));
  expect((instance.exports as { panics(): number }).panics()).toBe(0);
  const isDead = (name: string): boolean => name === "formats";
  expect(() => trimmed(wasm, { ...keeps, isDead })).toThrow("panics calls formats, which should be dead");
});

it("a module without names or with an unknown instruction is refused", () => {
  binaryen.setDebugInfo(false);
  const bare = binaryen.parseText(text).emitBinary();
  const keeps = { keepsPads: () => false, isDead: () => false };
  expect(() => trimmed(bare, keeps)).toThrow("no names");
  const vector = binaryen.parseText("(module (memory 1) (func $f (drop (v128.load (i32.const 0)))))");
  vector.setFeatures(binaryen.Features.All);
  expect(() => packed(vector.emitBinary())).toThrow("does not know");
});
