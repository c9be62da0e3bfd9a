// Sorts the bytes of a WebAssembly file by what they mean: gzip finds more that is alike when the opcodes of all functions
// stand together, then all constants, all locals, and so on; what follows from the rest is left out. A fifth smaller.
// `src/face/join.wat` puts them together again.
import { Reader, instructions, localsEnd, number, op, sectionsOf } from "./wasm-binary.mjs";

/** What stands in the run of opcodes besides them. */
const short = { getLast: 0xc5, getSecond: 0xc6, zero: 0xc7, one: 0xc8, address: 0xc9, unusual: 0xca };

/** Where the memory's data begin, and the bytes from there that are reached as addresses. */
const data = { at: 2 ** 20, length: 2 ** 16 };

/** In the order of the file. */
const order = [
  "before",
  "locals",
  "codes",
  "constants",
  "addends",
  "compared",
  "low",
  "high",
  "indices",
  "callees",
  "labels",
  "loads",
  "stores",
  "after",
];

/** The length of the file and those of the runs of bytes, as 32 bits each, and the runs: see `src/face/join.wat`. */
export function packed(wasm) {
  const code = sectionsOf(wasm).find(({ id }) => id === 10);
  const reader = new Reader(wasm, code.at);
  const runs = Object.fromEntries(order.map((run) => [run, []]));
  const count = reader.number();
  runs.before.push(wasm.subarray(0, reader.at));
  for (let index = 0; index < count; index++) {
    const sizeAt = reader.at;
    const length = reader.number();
    if (reader.at - sizeAt !== number(length).length) throw new Error("a size with more bytes than it needs");
    packBody(wasm.subarray(reader.at, reader.at + length), runs);
    reader.at += length;
  }
  runs.after.push(wasm.subarray(code.end));
  const bytes = order.map((run) => Buffer.concat(runs[run]));
  const lengths = Buffer.alloc(4 * (1 + order.length));
  [wasm, ...bytes].forEach((run, index) => lengths.writeUInt32LE(run.length, 4 * index));
  return Buffer.concat([lengths, ...bytes]);
}

function packBody(body, runs) {
  runs.locals.push(body.subarray(0, localsEnd(body)));
  let [last, second] = [-1, -1];
  const all = [...instructions(body)];
  all.forEach(({ code, at, next }, place) => {
    const immediates = body.subarray(at + 1, next);
    const put = (...bytes) => runs.codes.push(Uint8Array.of(...bytes));
    const split = (run) => {
      put(code);
      runs[run].push(immediates);
    };
    if (code >= 0x20 && code <= 0x22) {
      const local = new Reader(immediates, 0).number();
      if (immediates.length !== number(local).length)
        throw new Error("an index with more bytes than it needs");
      if (code === 0x20 && local === last) return put(short.getLast);
      if (code === 0x20 && local === second) put(short.getSecond);
      else split("indices");
      if (local !== last) [last, second] = [local, last];
    } else if (code === 0x41 && immediates.length === 1 && immediates[0] < 2) {
      put(short.zero + immediates[0]);
    } else if (code === 0x41 && isAddress(immediates)) {
      const offset = new Reader(immediates, 0).number() - data.at;
      put(short.address);
      runs.low.push(Uint8Array.of(offset & 255));
      runs.high.push(Uint8Array.of(offset >> 8));
    } else if (code === 0x41 || code === 0x42) split(runOf(all[place + 1].code));
    else if (code === op.call) split("callees");
    else if (code >= 0x0c && code <= 0x0e) split("labels");
    else {
      const usual = usualOf(code);
      if (usual === undefined) return put(code, ...immediates);
      const rest = isLoad(code) ? "loads" : isStore(code) ? "stores" : undefined;
      const first = new Reader(immediates, 0);
      first.skip();
      if (immediates[0] === usual) put(code);
      else put(short.unusual, code, ...immediates.subarray(0, first.at));
      if (rest !== undefined) runs[rest].push(immediates.subarray(first.at));
    }
  });
}

function isAddress(immediates) {
  if (immediates.length !== 4) return false;
  const value = new Reader(immediates, 0).number();
  return value >= data.at && value < data.at + data.length;
}

/** A constant's run, by what follows it. */
function runOf(code) {
  if (code === 0x6a || code === 0x6b) return "addends";
  return code >= 0x45 && code <= 0x5a ? "compared" : "constants";
}

/** The first immediate that such an instruction mostly has: no type of a block, global 0, the natural alignment. */
function usualOf(code) {
  if ([op.block, op.loop, op.if, op.try].includes(code)) return 0x40;
  if (code === 0x23 || code === 0x24) return 0;
  return isLoad(code) || isStore(code) ? alignments[code - 0x28] : undefined;
}

const isLoad = (code) => code >= 0x28 && code <= 0x35;
const isStore = (code) => code >= 0x36 && code <= 0x3e;
const alignments = [2, 3, 2, 3, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 3, 2, 3, 0, 1, 0, 1, 2];
