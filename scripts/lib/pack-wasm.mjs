// Sorts the bytes of a WebAssembly file by what they mean: gzip finds more that is alike when the opcodes of all functions
// stand together, then all constants, all locals, and so on. A tenth smaller. `src/face/join.ts` puts them together again.
import { Reader, instructions, localsEnd, number, op, sectionsOf } from "./wasm-binary.mjs";

/** The lengths of nine runs of bytes, as 32 bits each, and the runs: see `src/face/join.ts`. */
export function packed(wasm) {
  const code = sectionsOf(wasm).find(({ id }) => id === 10);
  const reader = new Reader(wasm, code.at);
  const count = reader.number();
  const [sizes, codes, constants, locals, callees, labels, offsets] = Array.from({ length: 7 }, () => []);
  const before = [wasm.subarray(0, reader.at)];
  for (let index = 0; index < count; index++) {
    const length = reader.number();
    const body = wasm.subarray(reader.at, reader.at + length);
    reader.at += length;
    sizes.push(number(length), body.subarray(0, localsEnd(body)));
    for (const { code: opcode, at, next } of instructions(body)) {
      const [run, from] = placeOf(opcode, body, at);
      codes.push(body.subarray(at, from));
      run.push(body.subarray(from, next));
    }
  }
  function placeOf(opcode, body, at) {
    if (opcode >= 0x20 && opcode <= 0x22) return [locals, at + 1];
    if (opcode === 0x41 || opcode === 0x42) return [constants, at + 1];
    if (opcode === op.call) return [callees, at + 1];
    if (opcode >= 0x0c && opcode <= 0x0e) return [labels, at + 1];
    if (opcode >= 0x28 && opcode <= 0x3e) {
      // The alignment mostly follows from the opcode and stays with it.
      const alignment = new Reader(body, at + 1);
      alignment.skip();
      return [offsets, alignment.at];
    }
    return [codes, at + 1];
  }
  const after = [wasm.subarray(code.end)];
  const runs = [before, sizes, codes, constants, locals, callees, labels, offsets, after].map((run) =>
    Buffer.concat(run),
  );
  const lengths = Buffer.alloc(4 * runs.length);
  runs.forEach((run, index) => lengths.writeUInt32LE(run.length, 4 * index));
  return Buffer.concat([lengths, ...runs]);
}
