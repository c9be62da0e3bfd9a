// Sorts the functions of a WebAssembly module, so that like stands beside like, where gzip finds it: by their locals, then
// their types, then their bodies.
import { Reader, instructions, localsEnd, number, op } from "./wasm-binary.mjs";
import { kinds, moduleOf, sectionIds as id, signed, text, vector, written } from "./wasm-module.mjs";

/** `wasm`, which has no names, with its functions in another order. */
export function ordered(wasm) {
  const { functions, imported, exports, elements, sections } = moduleOf(wasm);
  if (sections.has(id.start)) throw new Error("a module with a function that starts it");
  const own = functions.slice(imported).map(({ type, body }, place) => {
    const end = localsEnd(body);
    const key = Buffer.concat([body.subarray(0, end), number(type), body.subarray(end)]);
    return { index: imported + place, type, body, key };
  });
  own.sort((one, other) => Buffer.compare(one.key, other.key) || one.index - other.index);
  const places = functions.map((_, index) => index);
  own.forEach(({ index }, place) => (places[index] = imported + place));
  const all = new Map(sections);
  all.set(id.function, vector(own.map(({ type }) => number(type))));
  all.set(
    id.code,
    vector(
      own.map(({ body }) => {
        const moved = withCallees(body, places);
        return Buffer.concat([number(moved.length), moved]);
      }),
    ),
  );
  if (sections.has(id.export)) {
    const entries = exports.map(({ name, kind, index }) => {
      const place = kind === kinds.function ? places[index] : index;
      return Buffer.concat([text(name), Uint8Array.of(kind), number(place)]);
    });
    all.set(id.export, vector(entries));
  }
  if (sections.has(id.element)) all.set(id.element, segments(elements, places));
  return written(all);
}

function withCallees(body, places) {
  const chunks = [body.subarray(0, localsEnd(body))];
  for (const { code, at, next } of instructions(body)) {
    if (code === 0xd2) throw new Error("a function that another one refers to");
    if (code === op.call)
      chunks.push(Uint8Array.of(op.call), number(places[new Reader(body, at + 1).number()]));
    else chunks.push(body.subarray(at, next));
  }
  return Buffer.concat(chunks);
}

function segments(elements, places) {
  return vector(
    elements.map(({ at, functions }) =>
      Buffer.concat([
        Uint8Array.of(0, 0x41),
        signed(at),
        Uint8Array.of(0x0b),
        vector(functions.map((index) => number(places[index]))),
      ]),
    ),
  );
}
