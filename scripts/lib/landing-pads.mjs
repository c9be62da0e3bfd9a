// Takes the landing pads out of the engine's functions: the code that runs destructors while a panic unwinds through
// them. It is an eighth of the file, runs only when looplet has a defect, and then frees memory of a run that is over.
//
// A panic still unwinds to the shell, which ends the run (src/shell/guard.rs); what the engine's frames owned leaks, as
// `mem::forget` may leak it. The shell's own functions keep their pads: they hold borrows, handles of JavaScript and
// flags that must be released. So do functions that catch, and those of std, which releases locks.
//
// In the binary: `try body catch_all pad end` becomes `block body end`, and `try body delegate` the same. Depths of
// branches do not change. This runs on what rustc wrote, whose name section tells the crates, before anything else.

/** `wasm` without the pads of those functions for whose (mangled) names `keeps` is false. */
export function withoutLandingPads(wasm, keeps) {
  const sections = sectionsOf(wasm);
  const names = namesOf(wasm, sections);
  const imported = importedFunctions(wasm, sections);
  const parts = [wasm.subarray(0, 8)];
  let stripped = 0;
  for (const section of sections) {
    if (section.id !== 10) {
      parts.push(wasm.subarray(section.start, section.end));
      continue;
    }
    const reader = new Reader(wasm, section.at);
    const count = reader.number();
    const code = [number(count)];
    for (let index = 0; index < count; index++) {
      const length = reader.number();
      let body = wasm.subarray(reader.at, reader.at + length);
      reader.at += length;
      const name = names.get(imported + index);
      if (name !== undefined && !keeps(name)) {
        const bare = withoutPads(body);
        if (bare !== body) stripped++;
        body = bare;
      }
      code.push(number(body.length), body);
    }
    const bytes = Buffer.concat(code);
    parts.push(Uint8Array.of(10), number(bytes.length), bytes);
  }
  return { wasm: Buffer.concat(parts), stripped };
}

const [block, loop, ifThen, tryOpen, catchTag, rethrow, end, delegate, catchAll] = [
  0x02, 0x03, 0x04, 0x06, 0x07, 0x09, 0x0b, 0x18, 0x19,
];

// A function that catches a tag does so on purpose and is left alone.
function withoutPads(body) {
  const parts = [];
  const open = [];
  let kept = 0;
  let pads = 0;
  let tries = 0;
  for (const { op, at, next } of instructions(body)) {
    const take = (to, instead) => {
      if (pads === 0) parts.push(body.subarray(kept, to), Uint8Array.of(...instead));
      kept = next;
    };
    if (op === catchTag) return body;
    if (op === block || op === loop || op === ifThen) open.push({});
    else if (op === tryOpen) {
      tries++;
      open.push({});
      // The type of the block follows.
      if (pads === 0) {
        parts.push(body.subarray(kept, at), Uint8Array.of(block));
        kept = at + 1;
      }
    } else if (op === catchAll) {
      take(at, []);
      open.at(-1).isPad = true;
      pads++;
    } else if (op === delegate) {
      open.pop();
      take(at, [end]);
    } else if (op === end && open.pop()?.isPad) {
      pads--;
      if (pads === 0) kept = at;
    }
  }
  if (tries === 0) return body;
  parts.push(body.subarray(kept));
  return Buffer.concat(parts);
}

/** The instructions of a function's body, behind its locals: their opcodes, where they stand and where they end. */
function* instructions(body) {
  const reader = new Reader(body, 0);
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.skip();
    reader.at++;
  }
  while (reader.at < body.length) {
    const at = reader.at;
    const op = body[reader.at++];
    skipImmediates(reader, op);
    yield { op, at, next: reader.at };
  }
}

// https://webassembly.github.io/spec/core/binary/instructions.html (2026-11-21), with the exceptions that came before.
function skipImmediates(reader, op) {
  const skip = (count) => {
    for (; count > 0; count--) reader.skip();
  };
  if ([block, loop, ifThen, tryOpen, catchTag, rethrow, delegate, 0x08, 0x0c, 0x0d, 0x10, 0x12].includes(op))
    skip(1);
  else if (op === 0x0e) skip(reader.number() + 1);
  else if (op === 0x11 || op === 0x13 || (op >= 0x28 && op <= 0x3e)) skip(2);
  else if (op === 0x1c) reader.at += reader.number();
  else if ((op >= 0x20 && op <= 0x26) || (op >= 0x3f && op <= 0x42) || op === 0xd0 || op === 0xd2) skip(1);
  else if (op === 0x43) reader.at += 4;
  else if (op === 0x44) reader.at += 8;
  else if (op === 0xfc) {
    const more = reader.number();
    if (more > 17) throw new Error(`an instruction that landing-pads.mjs does not know: 0xfc ${more}`);
    skip([0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1][more]);
  } else if (!(
    op <= 0x01 ||
    [0x05, end, 0x0f, catchAll, 0x1a, 0x1b, 0xd1].includes(op) ||
    (op >= 0x45 && op <= 0xc4)
  ))
    throw new Error(`an instruction that landing-pads.mjs does not know: 0x${op.toString(16)}`);
}

function sectionsOf(wasm) {
  const reader = new Reader(wasm, 8);
  const sections = [];
  while (reader.at < wasm.length) {
    const start = reader.at;
    const id = wasm[reader.at++];
    const length = reader.number();
    const at = reader.at;
    reader.at += length;
    sections.push({ id, start, at, end: reader.at });
  }
  return sections;
}

/** The names of functions by their index. */
function namesOf(wasm, sections) {
  const names = new Map();
  for (const { id, at, end: until } of sections) {
    const reader = new Reader(wasm, at);
    if (id !== 0 || reader.text() !== "name") continue;
    while (reader.at < until) {
      const kind = wasm[reader.at++];
      const length = reader.number();
      const behind = reader.at + length;
      if (kind === 1)
        for (let count = reader.number(); count > 0; count--) names.set(reader.number(), reader.text());
      reader.at = behind;
    }
  }
  if (names.size === 0) throw new Error("the WebAssembly has no names, which tell whose functions they are");
  return names;
}

function importedFunctions(wasm, sections) {
  const section = sections.find(({ id }) => id === 2);
  if (!section) return 0;
  const reader = new Reader(wasm, section.at);
  let functions = 0;
  for (let count = reader.number(); count > 0; count--) {
    reader.text();
    reader.text();
    const kind = wasm[reader.at++];
    if (kind === 0) functions++;
    if (kind === 1 || kind === 4) reader.at++;
    if (kind === 3) reader.at += 2;
    else if (kind === 1 || kind === 2) {
      const hasMost = reader.number() & 1;
      reader.skip();
      if (hasMost) reader.skip();
    } else reader.skip();
  }
  return functions;
}

class Reader {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  skip() {
    while (this.bytes[this.at++] >= 128);
  }

  text() {
    const length = this.number();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString();
  }
}

function number(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Uint8Array.of(...bytes, value);
}
