// A WebAssembly module as lists: its functions, what it imports and exports, its tables' contents. As far as rustc writes it.
import { Reader, eachImport, namesOf, number, sectionsOf } from "./wasm-binary.mjs";

/** What an import or export is. */
export const kinds = { function: 0, table: 1, memory: 2, global: 3, tag: 4 };

/** Section ids in the order of the file; 13 are the tags, 12 counts the data. */
export const sectionIds = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  tag: 13,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  dataCount: 12,
  code: 10,
  data: 11,
};

/**
 * `types`: their bytes. `imports`: `{ module, name, kind, description }`, the description as bytes behind the kind.
 * `functions`: of all, imported ones first, `{ type, body? }`. `descriptions`: by kind, the bytes that an import of each
 * table, memory, global or tag would have. `exports`: `{ name, kind, index }`. `elements`: `{ at, functions }`, all of them
 * in the first table, or `other` where a segment is of another form. `sections`: the bytes of each section by id.
 */
export function moduleOf(wasm) {
  const list = sectionsOf(wasm);
  const sections = new Map();
  for (const { id, at, end } of list) if (id !== 0) sections.set(id, wasm.subarray(at, end));
  const entries = (id, read) => {
    const bytes = sections.get(id);
    if (bytes === undefined) return [];
    const reader = new Reader(bytes, 0);
    return Array.from({ length: reader.number() }, () => read(reader, bytes));
  };
  const types = entries(sectionIds.type, (reader, bytes) => {
    const from = reader.at++;
    for (let lists = 0; lists < 2; lists++) {
      const count = reader.number();
      reader.at += count;
    }
    return bytes.subarray(from, reader.at);
  });
  const imports = [];
  eachImport(wasm, list, (module, name, kind, from, to) =>
    imports.push({ module, name, kind, description: wasm.subarray(from + 1, to) }),
  );
  const ofKind = (kind) =>
    imports.filter((entry) => entry.kind === kind).map(({ description }) => description);
  const functions = ofKind(kinds.function).map((type) => ({ type: new Reader(type, 0).number() }));
  for (const type of entries(sectionIds.function, (reader) => reader.number())) functions.push({ type });
  const imported = functions.length - entries(sectionIds.function, (reader) => reader.number()).length;
  entries(sectionIds.code, (reader, bytes) => {
    const length = reader.number();
    reader.at += length;
    return bytes.subarray(reader.at - length, reader.at);
  }).forEach((body, index) => (functions[imported + index].body = body));
  const descriptions = {
    [kinds.table]: ofKind(kinds.table).concat(
      entries(sectionIds.table, (reader, bytes) => {
        const from = reader.at++;
        skipLimits(reader);
        return bytes.subarray(from, reader.at);
      }),
    ),
    [kinds.memory]: ofKind(kinds.memory).concat(
      entries(sectionIds.memory, (reader, bytes) => {
        const from = reader.at;
        skipLimits(reader);
        return bytes.subarray(from, reader.at);
      }),
    ),
    [kinds.tag]: ofKind(kinds.tag).concat(
      entries(sectionIds.tag, (reader, bytes) => {
        const from = reader.at++;
        reader.skip();
        return bytes.subarray(from, reader.at);
      }),
    ),
    [kinds.global]: ofKind(kinds.global).concat(
      entries(sectionIds.global, (reader, bytes) => {
        const from = reader.at;
        reader.at += 2;
        const description = bytes.subarray(from, reader.at);
        skipConstant(reader, bytes);
        return description;
      }),
    ),
  };
  const exports = entries(sectionIds.export, (reader, bytes) => ({
    name: reader.text(),
    kind: bytes[reader.at++],
    index: reader.number(),
  }));
  const elements = entries(sectionIds.element, (reader, bytes) => {
    const from = reader.at;
    const flags = reader.number();
    if (flags !== 0) throw new Error(`an element segment that wasm-module.mjs does not know: ${flags}`);
    if (bytes[reader.at++] !== 0x41) throw new Error("an element segment without a constant place");
    const at = reader.number();
    reader.at++;
    return { from, at, functions: Array.from({ length: reader.number() }, () => reader.number()) };
  });
  return {
    types,
    imports,
    functions,
    imported,
    descriptions,
    exports,
    elements,
    sections,
    names: namesOf(wasm, list),
  };
}

function skipLimits(reader) {
  const hasMost = reader.number() & 1;
  reader.skip();
  if (hasMost) reader.skip();
}

// One constant and `end`.
function skipConstant(reader, bytes) {
  const code = bytes[reader.at++];
  if (code === 0x43) reader.at += 4;
  else if (code === 0x44) reader.at += 8;
  else if (code === 0xd0) reader.at++;
  else reader.skip();
  if (bytes[reader.at++] !== 0x0b) throw new Error("a global with more than a constant");
}

/** The bytes of a module from those of its sections, by id. */
export function written(sections) {
  const parts = [Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)];
  for (const id of Object.values(sectionIds)) {
    const body = sections.get(id);
    if (body !== undefined) parts.push(Uint8Array.of(id), number(body.length), body);
  }
  return Buffer.concat(parts);
}

/** A section's bytes from its entries. */
export function vector(entries) {
  return Buffer.concat([number(entries.length), ...entries]);
}

/** A name with its length. */
export function text(value) {
  return Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** `value` as LEB128 with a sign. */
export function signed(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 127;
    value >>= 7;
    if ((value === 0 && (byte & 64) === 0) || (value === -1 && (byte & 64) !== 0))
      return Uint8Array.of(...bytes, byte);
    bytes.push(byte | 128);
  }
}

/** `wasm` without its custom sections, names among them. */
export function bare(wasm) {
  const kept = sectionsOf(wasm).filter(({ id }) => id !== 0);
  return Buffer.concat([wasm.subarray(0, 8), ...kept.map(({ start, end }) => wasm.subarray(start, end))]);
}
