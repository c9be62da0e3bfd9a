// Reads the binary format of WebAssembly, as far as rustc writes it.

/** The opcodes of what nests, and of the exceptions that came before `try_table`. */
export const op = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  try: 0x06,
  catch: 0x07,
  rethrow: 0x09,
  end: 0x0b,
  call: 0x10,
  delegate: 0x18,
  catchAll: 0x19,
  refFunc: 0xd2,
};

/** The instructions of a function's body, behind its locals: their opcodes, where they stand and where they end. */
export function* instructions(body) {
  const reader = new Reader(body, localsEnd(body));
  while (reader.at < body.length) {
    const at = reader.at;
    const code = body[reader.at++];
    skipImmediates(reader, code);
    yield { code, at, next: reader.at };
  }
}

/** The callees of direct calls. */
export function* calleesOf(body) {
  if (body === undefined) return;
  for (const { code, at } of instructions(body))
    if (code === op.call) yield new Reader(body, at + 1).number();
}

/** Where the locals of a function's body end. */
export function localsEnd(body) {
  const reader = new Reader(body, 0);
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.skip();
    reader.at++;
  }
  return reader.at;
}

// https://webassembly.github.io/spec/core/binary/instructions.html (2026-11-21)
function skipImmediates(reader, code) {
  const skip = (count) => {
    for (; count > 0; count--) reader.skip();
  };
  const isIn = (from, to) => code >= from && code <= to;
  const { block, loop, try: tryOpen, catch: catchTag, rethrow, delegate, call } = op;
  if ([block, loop, op.if, tryOpen, catchTag, rethrow, delegate, call, 0x08, 0x0c, 0x0d].includes(code))
    skip(1);
  else if (code === 0x0e) skip(reader.number() + 1);
  else if (code === 0x11 || isIn(0x28, 0x3e)) skip(2);
  else if (code === 0x1c) reader.at += reader.number();
  else if (isIn(0x20, 0x26) || isIn(0x3f, 0x42) || code === 0xd0 || code === op.refFunc) skip(1);
  else if (code === 0x43) reader.at += 4;
  else if (code === 0x44) reader.at += 8;
  else if (code === 0xfc) {
    const more = reader.number();
    if (more > 17) throw new Error(`an instruction that wasm-binary.mjs does not know: 0xfc ${more}`);
    skip(more < 8 ? 0 : [8, 10, 12, 14].includes(more) ? 2 : 1);
  } else if (!(
    isIn(0x00, 0x01) ||
    isIn(0x45, 0xc4) ||
    [0x05, op.end, 0x0f, op.catchAll, 0x1a, 0x1b, 0xd1].includes(code)
  ))
    throw new Error(`an instruction that wasm-binary.mjs does not know: 0x${code.toString(16)}`);
}

export function sectionsOf(wasm) {
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

/** @throws for a module whose functions have no names, which tell whose they are */
export function needNames(names) {
  if (names.size === 0) throw new Error("the WebAssembly has no names, which tell whose functions they are");
}

/** The names of functions by their index. */
export function namesOf(wasm, sections) {
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
  return names;
}

/** How many of the imports are functions. */
export function importedFunctions(wasm, sections) {
  let functions = 0;
  eachImport(wasm, sections, (_module, _name, kind) => (functions += kind === 0 ? 1 : 0));
  return functions;
}

/** `wasm` with imports called by what `rename` makes of their names. */
export function withImports(wasm, rename) {
  const sections = sectionsOf(wasm);
  const text = (value) => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);
  const entries = [];
  eachImport(wasm, sections, (module, name, _kind, from, to) =>
    entries.push(text(module), text(rename(name)), wasm.subarray(from, to)),
  );
  const body = Buffer.concat([number(entries.length / 3), ...entries]);
  const { start, end } = sections.find(({ id }) => id === 2);
  return Buffer.concat([
    wasm.subarray(0, start),
    Uint8Array.of(2),
    number(body.length),
    body,
    wasm.subarray(end),
  ]);
}

/** Tells each import's module, name and kind, and where its kind and type stand. */
export function eachImport(wasm, sections, tell) {
  const section = sections.find(({ id }) => id === 2);
  if (!section) return;
  const reader = new Reader(wasm, section.at);
  for (let count = reader.number(); count > 0; count--) {
    const [module, name, from] = [reader.text(), reader.text(), reader.at];
    const kind = wasm[reader.at++];
    if (kind === 1 || kind === 4) reader.at++;
    if (kind === 3) reader.at += 2;
    else if (kind === 1 || kind === 2) {
      const hasMost = reader.number() & 1;
      reader.skip();
      if (hasMost) reader.skip();
    } else reader.skip();
    tell(module, name, kind, from, reader.at);
  }
}

export class Reader {
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

/** `value` as LEB128. */
export function number(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Uint8Array.of(...bytes, value);
}
