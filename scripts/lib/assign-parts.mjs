// Decides which functions of the engine belong to which part: see `split-wasm.mjs`.
import { calleesOf, needNames } from "./wasm-binary.mjs";
import { kinds } from "./wasm-module.mjs";

/** By function: the name of its part, or undefined for the primary. */
export function assign(whole, table, report) {
  needNames(whole.names);
  const parts = Object.keys(table);
  const names = whole.functions.map((_, index) => plain(whole.names.get(index) ?? ""));
  const callees = whole.functions.map(({ body }) => [...new Set(calleesOf(body))]);
  const pointed = new Set(whole.elements.flatMap(({ functions }) => functions));
  const belongs = names.map((name, index) => {
    const { body } = whole.functions[index];
    if (body === undefined || body.length < sureBytes) return undefined;
    return parts.find((part) => table[part].own.test(name));
  });
  const isGate = (caller, part) => table[part].gates.test(names[caller]);

  /** Marks with `visit` what is called from `index`, except through gates. */
  const follow = (index, visit) => {
    const open = [index];
    while (open.length > 0) {
      const caller = open.pop();
      if (!visit(caller)) continue;
      for (const callee of callees[caller]) {
        const part = belongs[callee];
        if (part !== undefined && isGate(caller, part)) continue;
        open.push(callee);
      }
    }
  };
  const inPrimary = new Set();
  const keep = (index) => follow(index, (at) => !inPrimary.has(at) && inPrimary.add(at));
  whole.functions.forEach(({ body }, index) => body === undefined && keep(index));
  for (const { kind, index } of whole.exports) if (kind === kinds.function) keep(index);
  for (const index of pointed) if (belongs[index] === undefined) keep(index);

  // What several parts reach stays with what all have.
  const reached = new Map();
  const claim = (part, index) =>
    follow(index, (at) => {
      if (inPrimary.has(at)) return false;
      const by = reached.get(at) ?? new Set();
      if (by.has(part)) return false;
      reached.set(at, by.add(part));
      return true;
    });
  names.forEach((_, index) => {
    const part = belongs[index];
    if (part !== undefined && !inPrimary.has(index)) claim(part, index);
  });
  const owners = names.map((_, index) => {
    const by = reached.get(index);
    return by?.size === 1 ? [...by][0] : undefined;
  });
  names.forEach((name, index) => {
    const part = belongs[index];
    if (part !== undefined && owners[index] !== part && whole.functions[index].body.length > worthTelling)
      report(`${name} stays in the primary: ${callersOf(index, callees, names)} calls it`);
  });
  return owners;
}

/** What is smaller may stand for others that are alike, of which rustc and wasm-opt keep one: its name says little. */
const sureBytes = 64;

/** Bytes. */
const worthTelling = 300;

function callersOf(index, callees, names) {
  return names.filter((_, caller) => callees[caller].includes(index)).join(", ");
}

/** Names without hashes. */
export function plain(name) {
  return name.replace(/\[[0-9a-f]+\]/g, "");
}
