import binaryen from "binaryen";
import { expect, it } from "vitest";
import { packed } from "../../scripts/lib/pack-wasm.mjs";
import { split } from "../../scripts/lib/split-wasm.mjs";
import { Parts } from "../../src/face/parts.js";

// Functions of two parts, called by a gate, through the table and across the parts. They are long, because the name of a
// short function may stand for others.
const nops = "(nop)".repeat(70);
const text = `(module
  (type $unary (func (param i32) (result i32)))
  (import "host" "log" (func $log (param i32)))
  (memory (export "memory") 1)
  (global $depth (mut i32) (i32.const 0))
  (tag $oops (param i32))
  (table $t 4 4 funcref)
  (elem (i32.const 1) $any $red.row $blue.row)
  (func $any (param $x i32) (result i32) (local.get $x))
  (func $common (param $x i32) (result i32)
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (i32.mul (local.get $x) (i32.const 10)))
  (func $red.helper (param $x i32) (result i32) ${nops}
    (call $log (local.get $x))
    (i32.store (i32.const 8) (local.get $x))
    (i32.add (i32.const 1) (call $common (local.get $x))))
  (func $red.row (type $unary) ${nops} (call $red.helper (local.get 0)))
  (func $blue.row (type $unary) ${nops} (call $common (i32.add (local.get 0) (call $red.helper (i32.const 1)))))
  (func $blue.throws (param $x i32) (result i32) ${nops}
    (if (i32.gt_s (local.get $x) (i32.const 1)) (then (throw $oops (local.get $x))))
    (call $common (local.get $x)))
  (func $gate (export "gate") (param $x i32) (result i32)
    (try (result i32)
      (do (call $blue.throws (local.get $x)))
      (catch $oops (i32.add (i32.const 1000)))))
  (func (export "row") (param $row i32) (param $x i32) (result i32)
    (call_indirect (type $unary) (local.get $x) (local.get $row)))
  (func (export "deep") (result i32) (global.get $depth)))`;

const table = {
  red: { own: /^red\./, gates: /^blue\.row$/ },
  blue: { own: /^blue\./, gates: /^gate$/ },
};

interface Exports {
  memory: WebAssembly.Memory;
  gate(x: number): number;
  row(row: number, x: number): number;
  deep(): number;
}

function cut(wat = text): { primary: Uint8Array; parts: { [name: string]: Uint8Array }; lentAt: number } {
  binaryen.setDebugInfo(true);
  const module = binaryen.parseText(wat);
  module.setFeatures(binaryen.Features.All);
  return split(module.emitBinary(), table);
}

async function start(primary: Uint8Array): Promise<{ exports: Exports; log: number[] }> {
  const log: number[] = [];
  const host = { log: (line: number) => log.push(line) };
  const { instance } = await WebAssembly.instantiate(new Uint8Array(primary), { host });
  return { exports: instance.exports as unknown as Exports, log };
}

function partsOf({ parts, lentAt }: ReturnType<typeof cut>): Parts {
  const files = Object.fromEntries(
    Object.keys(parts).map((name) => [name, () => Promise.resolve({ part: name })]),
  );
  return new Parts({ files, lentAt, unpack: (name) => Promise.resolve(new Uint8Array(parts[name]!)) });
}

it("a part that is missing is a trap, and one that is there works with the memory, globals, tags and functions of all", async () => {
  const modules = cut();
  expect(Object.keys(modules.parts)).toEqual(["red", "blue"]);
  const { exports, log } = await start(modules.primary);
  expect(exports.row(1, 7)).toBe(7);
  expect(() => exports.gate(1)).toThrow(WebAssembly.RuntimeError);
  expect(() => exports.row(2, 5)).toThrow(WebAssembly.RuntimeError);

  const parts = partsOf(modules);
  expect(parts.lacks(["blue"])).toBe(true);
  await parts.load(["blue", "no part of this engine"]);
  expect(parts.lacks(["blue"]), "it is not in the instance").toBe(true);
  const filled = parts.fill(exports as unknown as WebAssembly.Exports, 0);
  expect(parts.lacks(["blue"])).toBe(false);
  expect(parts.lacks(["red"])).toBe(true);
  expect(exports.gate(1)).toBe(10);
  expect(exports.gate(5)).toBe(1005);
  for (const row of [2, 3]) expect(() => exports.row(row, 5)).toThrow(WebAssembly.RuntimeError);

  await parts.load(["red"]);
  parts.fill(exports as unknown as WebAssembly.Exports, filled);
  expect(exports.row(2, 5)).toBe(51);
  expect(exports.row(3, 2)).toBe(130);
  expect(log).toEqual([5, 1]);
  expect(new Int32Array(exports.memory.buffer)[2]).toBe(1);
  expect(exports.deep()).toBe(4);
});

it.each([
  ["a start function", '(func $begin) (start $begin) (func (export "deep")', "start function"],
  ["ref.func", '(func $names (export "names") (drop (ref.func $any))) (func (export "deep")', "ref.func"],
])("a module with %s is not split", (_, more, said) => {
  expect(() => cut(text.replace('(func (export "deep")', more))).toThrow(said);
});

it("a fresh instance is given all parts that were loaded for the last", async () => {
  const modules = cut();
  const parts = partsOf(modules);
  await parts.load(["red", "blue"]);
  for (let instance = 0; instance < 2; instance++) {
    const { exports } = await start(modules.primary);
    parts.fill(exports as unknown as WebAssembly.Exports, 0);
    expect(exports.row(2, 5)).toBe(51);
    expect(exports.deep()).toBe(1);
  }
});

it("a trap in a missing part is told in words, and everything is loaded from then on", async () => {
  const modules = cut();
  const { exports } = await start(modules.primary);
  const parts = partsOf(modules);
  await parts.load(["blue"]);
  parts.fill(exports as unknown as WebAssembly.Exports, 0);
  const other = new WebAssembly.RuntimeError("unreachable");
  expect(parts.explain(other)).toBe(other);
  await parts.load([]);
  expect(parts.lacks(["red"])).toBe(true);
  let thrown: unknown;
  try {
    exports.row(2, 5);
  } catch (error) {
    thrown = error;
  }
  expect(String(parts.explain(thrown))).toMatch(/a part of the engine was not loaded .*null/);
  await parts.load([]);
  parts.fill(exports as unknown as WebAssembly.Exports, 1);
  expect(parts.lacks(["red"])).toBe(false);
  expect(parts.explain(thrown)).toBe(thrown);
});

it("what something else calls as well stays in the primary, and every module can be packed", async () => {
  binaryen.setDebugInfo(true);
  const module = binaryen.parseText(text);
  module.setFeatures(binaryen.Features.All);
  const nobody = { own: /^blue\./, gates: /^nobody$/ };
  const { primary, parts } = split(module.emitBinary(), { blue: nobody });
  const { exports } = await start(primary);
  expect(exports.gate(1)).toBe(10);
  expect(() => exports.row(3, 2)).toThrow(WebAssembly.RuntimeError);
  for (const bytes of [primary, ...Object.values(parts)]) expect(packed(bytes).length).toBeGreaterThan(36);
});

it("a part that cannot be loaded is told, and asked for again at the next run", async () => {
  const modules = cut();
  let isOnline = false;
  const parts = new Parts({
    files: { red: () => (isOnline ? Promise.resolve({ part: "" }) : Promise.reject(new Error("offline"))) },
    lentAt: modules.lentAt,
    unpack: () => Promise.resolve(new Uint8Array(modules.parts["red"]!)),
  });
  parts.fetch(["red"]);
  await expect(parts.load(["red"])).rejects.toMatchObject({
    name: "LoopletError",
    code: "config_wasm",
    message: expect.stringMatching(/part "red" cannot be loaded: offline\. Serve every file of the build/),
  });
  isOnline = true;
  await parts.load(["red"]);
  parts.fill((await start(modules.primary)).exports as unknown as WebAssembly.Exports, 0);
  expect(parts.lacks(["red"])).toBe(false);
});
