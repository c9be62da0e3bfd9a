// Splits the finished engine: a primary module, and parts that are instantiated beside it when a run needs them.
//
// A part is given by what its functions are called, and by its gates: the only functions outside which may call into it,
// because they do so for the sake of what the part is for (the decoder of a protocol for answers in that protocol).
// Functions that only a part's functions call belong to it too. A function with one of its names that something else
// calls as well (rustc and wasm-opt merge functions that are alike) stays in the primary.
//
// The modules share the memory, the table and the globals. A call into a part goes through a slot at the end of the
// table, empty (a trap) until the part is there; so does a pointer to a function of it, whose slot is where it was. What
// the parts call of the primary stands in the table behind those: `src/face/parts.ts` hands it to them.
import { assign } from "./assign-parts.mjs";
import { Reader, calleesOf, instructions, localsEnd, number, op } from "./wasm-binary.mjs";
import { kinds, moduleOf, sectionIds as id, signed, text, vector, written } from "./wasm-module.mjs";

/** The name by which parts import, and the primary exports, what is no function. */
const nameOf = (kind, index) => `${"_TMGX"[kind]}${index}`;

/**
 * `{ primary, parts, lentAt }`. `parts`: the modules by name. `lentAt`: where in the table the functions stand that parts
 * import, by their numbers in base 36. `report` gets lines about what went where.
 */
export function split(wasm, table, report = (_line) => {}) {
  const whole = moduleOf(wasm);
  const owners = assign(whole, table, report);
  const plan = new Plan(whole, owners, Object.keys(table));
  const parts = Object.fromEntries(plan.parts.map((part) => [part, plan.part(part)]));
  return { primary: plan.primary(), parts, lentAt: plan.lentAt };
}

class Plan {
  constructor(whole, owners, parts) {
    this.whole = whole;
    this.owners = owners;
    this.parts = parts;
    this.pointers = whole.elements.flatMap(({ at, functions }) =>
      functions.map((index, place) => ({ index, slot: at + place })),
    );
    const [, limits] = tableLimits(whole);
    /** By function: its slot, if it is called from outside of its part. */
    this.slots = new Map();
    for (const { index, slot } of this.pointers)
      if (owners[index] && !this.slots.has(index)) this.slots.set(index, slot);
    const lent = new Set();
    let next = limits;
    whole.functions.forEach(({ body }, caller) => {
      for (const callee of calleesOf(body)) {
        if (owners[callee] === owners[caller]) continue;
        if (owners[callee] === undefined) lent.add(callee);
        else if (!this.slots.has(callee)) this.slots.set(callee, next++);
      }
    });
    this.lentAt = next;
    this.lent = [...lent].sort((a, b) => a - b);
    this.tableSize = next + this.lent.length;
  }

  primary() {
    const { whole, owners } = this;
    const kept = whole.functions.map((_, index) => index).filter((index) => owners[index] === undefined);
    const places = new Map(kept.map((index, place) => [index, place]));
    const own = kept.filter((index) => whole.functions[index].body !== undefined);
    if (whole.sections.has(id.start)) throw new Error("split: the module has a start function");
    const rewrite = (code, body, at, next) => {
      if (code === op.refFunc) throw new Error("split: a function names another by ref.func");
      if (code !== op.call) return undefined;
      const callee = new Reader(body, at + 1).number();
      return this.call(callee, places, (type) => type);
    };
    const sections = new Map(whole.sections);
    sections.set(id.function, vector(own.map((index) => number(whole.functions[index].type))));
    sections.set(
      id.code,
      vector(own.map((index) => withSize(rewritten(whole.functions[index].body, rewrite)))),
    );
    const exports = whole.exports.map(({ name, kind, index }) => ({
      name,
      kind,
      index: kind === kinds.function ? places.get(index) : index,
    }));
    for (const { kind, index } of this.shared()) exports.push({ name: nameOf(kind, index), kind, index });
    sections.set(
      id.export,
      vector(
        exports.map(({ name, kind, index }) =>
          Buffer.concat([text(name), Uint8Array.of(kind), number(index)]),
        ),
      ),
    );
    const held = this.pointers.filter(({ index }) => owners[index] === undefined);
    for (const [place, index] of this.lent.entries()) held.push({ index, slot: this.lentAt + place });
    sections.set(id.element, segments(held, places));
    sections.set(id.table, this.table());
    return written(sections);
  }

  part(part) {
    const { whole, owners } = this;
    const own = whole.functions.map((_, index) => index).filter((index) => owners[index] === part);
    const imports = [];
    const types = new Map();
    const typeOf = (index) => {
      if (!types.has(index)) types.set(index, types.size);
      return types.get(index);
    };
    const places = new Map();
    const lentPlaces = new Map(this.lent.map((index, place) => [index, place]));
    for (const caller of own)
      for (const callee of calleesOf(whole.functions[caller].body))
        if (lentPlaces.has(callee) && !places.has(callee)) {
          places.set(callee, places.size);
          imports.push(
            Buffer.concat([
              text(""),
              text(lentPlaces.get(callee).toString(36)),
              Uint8Array.of(kinds.function),
              number(typeOf(whole.functions[callee].type)),
            ]),
          );
        }
    const lentCount = places.size;
    own.forEach((index, place) => places.set(index, lentCount + place));
    const others = new Map();
    const other = (kind) => (index) => {
      const key = nameOf(kind, index);
      if (!others.has(key)) {
        const place = [...others.values()].filter((entry) => entry.kind === kind).length;
        others.set(key, { kind, index, place });
      }
      return others.get(key).place;
    };
    // What it calls through and what it loads from, even if it does neither.
    other(kinds.memory)(0);
    other(kinds.table)(0);
    const rewrite = (code, body, at) => {
      const reader = new Reader(body, at + 1);
      if (code === op.call) return this.call(reader.number(), places, typeOf);
      if (code === 0x11)
        return [
          Uint8Array.of(0x11),
          number(typeOf(reader.number())),
          number(other(kinds.table)(reader.number())),
        ];
      if (code === 0x23 || code === 0x24)
        return [Uint8Array.of(code), number(other(kinds.global)(reader.number()))];
      if (code === op.catch || code === 0x08)
        return [Uint8Array.of(code), number(other(kinds.tag)(reader.number()))];
      if ([op.block, op.loop, op.if, op.try].includes(code) && body[at + 1] < 0x40)
        return [Uint8Array.of(code), signed(typeOf(reader.number()))];
      if (code === 0x25 || code === 0x26 || code === 0xd2)
        throw new Error(`a part that uses 0x${code.toString(16)}`);
      return undefined;
    };
    const code = vector(own.map((index) => withSize(rewritten(whole.functions[index].body, rewrite))));
    const functionTypes = vector(own.map((index) => number(typeOf(whole.functions[index].type))));
    for (const { kind, index } of others.values()) {
      let description = whole.descriptions[kind][index];
      if (kind === kinds.table) description = this.tableDescription();
      if (kind === kinds.tag) description = Buffer.concat([Uint8Array.of(0), number(typeOf(description[1]))]);
      imports.push(Buffer.concat([text(""), text(nameOf(kind, index)), Uint8Array.of(kind), description]));
    }
    const held = this.pointers.filter(({ index }) => owners[index] === part);
    for (const [index, slot] of this.slots)
      if (owners[index] === part && !held.some((pointer) => pointer.slot === slot))
        held.push({ index, slot });
    return written(
      new Map([
        [id.type, vector([...types.keys()].map((index) => whole.types[index]))],
        [id.import, vector(imports)],
        [id.function, functionTypes],
        [id.element, segments(held, places)],
        [id.code, code],
      ]),
    );
  }

  /** A call of `callee`, or one through its slot where it is in another module. */
  call(callee, places, typeOf) {
    const place = places.get(callee);
    if (place !== undefined) return [Uint8Array.of(op.call), number(place)];
    const slot = this.slots.get(callee);
    const type = typeOf(this.whole.functions[callee].type);
    return [Uint8Array.of(0x41), signed(slot), Uint8Array.of(0x11), number(type), number(0)];
  }

  /** What every part may use besides functions, if the primary does not export it anyway. */
  shared() {
    const found = new Map();
    const add = (kind, index) => found.set(nameOf(kind, index), { kind, index });
    add(kinds.memory, 0);
    add(kinds.table, 0);
    this.whole.functions.forEach(({ body }, index) => {
      if (this.owners[index] === undefined) return;
      for (const { code, at } of instructions(body)) {
        const operand = () => new Reader(body, at + 1).number();
        if (code === 0x23 || code === 0x24) add(kinds.global, operand());
        if (code === op.catch || code === 0x08) add(kinds.tag, operand());
      }
    });
    return [...found.values()];
  }

  table() {
    const section = this.whole.sections.get(id.table);
    const [at, , end] = tableLimits(this.whole);
    return Buffer.concat([
      section.subarray(0, at),
      this.tableDescription().subarray(1),
      section.subarray(end),
    ]);
  }

  tableDescription() {
    return Buffer.concat([Uint8Array.of(0x70, 1), number(this.tableSize), number(this.tableSize)]);
  }
}

/** Where the limits of the first table stand, its size, and where they end. */
function tableLimits(whole) {
  const reader = new Reader(whole.sections.get(id.table), 0);
  reader.skip();
  reader.at++;
  const at = reader.at;
  const hasMost = reader.number() & 1;
  const size = reader.number();
  if (hasMost) reader.skip();
  return [at, size, reader.at];
}

/** The body with what `rewrite` gives in place of an instruction. */
function rewritten(body, rewrite) {
  const chunks = [body.subarray(0, localsEnd(body))];
  for (const { code, at, next } of instructions(body))
    chunks.push(...(rewrite(code, body, at, next) ?? [body.subarray(at, next)]));
  return Buffer.concat(chunks);
}

function withSize(body) {
  return Buffer.concat([number(body.length), body]);
}

/** An element segment for each run of slots without a gap. */
function segments(held, places) {
  held.sort((a, b) => a.slot - b.slot);
  const runs = [];
  for (const { index, slot } of held) {
    const last = runs.at(-1);
    if (last !== undefined && last.at + last.functions.length === slot)
      last.functions.push(places.get(index));
    else runs.push({ at: slot, functions: [places.get(index)] });
  }
  return vector(
    runs.map(({ at, functions }) =>
      Buffer.concat([Uint8Array.of(0, 0x41), signed(at), Uint8Array.of(0x0b), vector(functions.map(number))]),
    ),
  );
}
