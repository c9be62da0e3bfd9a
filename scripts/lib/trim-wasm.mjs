// Takes out of rustc's WebAssembly what never runs, before wasm-bindgen sees it. The name section tells whose a
// function is.
//
// Landing pads of the engine's functions: the code that runs destructors while a panic unwinds through them. It is an
// eighth of the file, runs only when looplet has a defect, and then frees memory of a run that is over. A panic still
// unwinds to the shell, which ends the run (src/shell/guard.rs); what the engine's frames owned leaks, as `mem::forget`
// may leak it. The shell's own functions keep their pads: they hold borrows, handles of JavaScript and flags that must
// be released. So do functions that catch, and those of std, which releases locks.
//
// Functions that only descriptions of wasm-bindgen point to: the table of function pointers would keep them.
//
// Core's formatting, which only messages of panics use: one with values in it is told without any text, but with its place.
//
// In the binary: `try body catch_all pad end` becomes `block body end`, and `try body delegate` the same. Depths of
// branches do not change.

import {
  Reader,
  calleesOf,
  importedFunctions,
  instructions,
  namesOf,
  needNames,
  number,
  op,
  sectionsOf,
} from "./wasm-binary.mjs";

/**
 * `wasm` without the pads of functions whose (mangled) names `keepsPads` is false for, nor what `isDead` is true for, which
 * nothing else may call. What `isSilent` is true for returns 0 and does nothing.
 */
export function trimmed(wasm, { keepsPads, isDead, isSilent = (_name) => false }) {
  const sections = sectionsOf(wasm);
  const names = namesOf(wasm, sections);
  needNames(names);
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
      if (name !== undefined && isDead(name)) body = trap;
      else if (name !== undefined && isSilent(name)) body = zero;
      else if (name !== undefined && !keepsPads(name)) {
        const bare = withoutPads(body);
        if (bare !== body) stripped++;
        body = bare;
      }
      for (const callee of calleesOf(body))
        if (isDead(names.get(callee) ?? ""))
          throw new Error(`${name} calls ${names.get(callee)}, which should be dead`);
      code.push(number(body.length), body);
    }
    const bytes = Buffer.concat(code);
    parts.push(Uint8Array.of(10), number(bytes.length), bytes);
  }
  return { wasm: Buffer.concat(parts), stripped };
}

/** A function without locals that is `unreachable`. */
const trap = Uint8Array.of(0, 0x00, 0x0b);

/** One that is `i32.const 0`. */
const zero = Uint8Array.of(0, 0x41, 0, 0x0b);

// A function that catches a tag does so on purpose and is left alone.
function withoutPads(body) {
  const parts = [];
  const open = [];
  let kept = 0;
  let pads = 0;
  let tries = 0;
  for (const { code, at, next } of instructions(body)) {
    const take = (to, instead) => {
      if (pads === 0) parts.push(body.subarray(kept, to), Uint8Array.of(...instead));
      kept = next;
    };
    if (code === op.catch) return body;
    if (code === op.block || code === op.loop || code === op.if) open.push({});
    else if (code === op.try) {
      tries++;
      open.push({});
      // The type of the block follows.
      if (pads === 0) {
        parts.push(body.subarray(kept, at), Uint8Array.of(op.block));
        kept = at + 1;
      }
    } else if (code === op.catchAll) {
      take(at, []);
      open.at(-1).isPad = true;
      pads++;
    } else if (code === op.delegate) {
      open.pop();
      take(at, [op.end]);
    } else if (code === op.end && open.pop()?.isPad) {
      pads--;
      if (pads === 0) kept = at;
    }
  }
  if (tries === 0) return body;
  parts.push(body.subarray(kept));
  return Buffer.concat(parts);
}
