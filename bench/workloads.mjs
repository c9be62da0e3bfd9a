/**
 * The workloads: W1 text, W2 tool arguments, W3 the loop, W4 the first delta of a fresh process, W6 memory, W7 many
 * parallel runs. `workloadOf(id, wire)` prepares the chunks once. `begin()` then returns fresh sessions, and every
 * session checks what its contestant delivered.
 */
import { isDeepStrictEqual } from "node:util";
import { cut, mockFetch } from "./mock.mjs";
import { seeded } from "./random.mjs";
import { wires } from "./wire.mjs";

const KIB = 1024;
const MIB = 1024 * KIB;
const TEXT_DELTAS = 20_000;
const ARGUMENT_DELTA_CHARS = 30;
const PARALLEL_CALLS = 3;
const TOOL_RESULT_CHARS = KIB;

/** id → how it is built. `unit` names what `per` divides: microseconds for a delta, milliseconds for the others. */
const catalogue = {
  "W1-event": { unit: "µs/delta", per: TEXT_DELTAS, build: (wire) => text(wire, "event") },
  "W1-16k": { unit: "µs/delta", per: TEXT_DELTAS, build: (wire) => text(wire, "16k") },
  "W1-split": { unit: "µs/delta", per: TEXT_DELTAS, build: (wire) => text(wire, "split") },
  "W2-64k": { unit: "ms", per: 1, build: (wire) => toolArguments(wire, 64 * KIB) },
  "W2-256k": { unit: "ms", per: 1, build: (wire) => toolArguments(wire, 256 * KIB) },
  "W2-1M": { unit: "ms", per: 1, build: (wire) => toolArguments(wire, MIB) },
  "W2-4M": { unit: "ms", per: 1, build: (wire) => toolArguments(wire, 4 * MIB) },
  "W3-50": { unit: "ms/iteration", per: 50, build: (wire) => loop(wire, { iterations: 50 }) },
  "W3-200": { unit: "ms/iteration", per: 200, build: (wire) => loop(wire, { iterations: 200 }) },
  "W3-800": { unit: "ms/iteration", per: 800, build: (wire) => loop(wire, { iterations: 800 }) },
  W4: { unit: "ms", per: 1, build: (wire) => text(wire, "event", 20) },
  "W4-workerd": { unit: "ms", per: 1, build: (wire) => text(wire, "event", 20) },
  "W6-20k": { unit: "MB", per: 1, build: (wire) => longText(wire, 1) },
  "W6-200k": { unit: "MB", per: 1, build: (wire) => longText(wire, 10) },
  "W6-loop": { unit: "MB", per: 1, build: (wire) => loop(wire, { iterations: 800 }) },
  W7: { unit: "ms", per: 1, build: (wire) => loop(wire, { iterations: 10, deltas: 200, runs: 100 }) },
};

export const workloadIds = Object.keys(catalogue);

export function unitOf(id) {
  return catalogue[id].unit;
}

/** Microseconds of CPU of one sample → the figure in the workload's unit. */
export function figureOf(id, cpuUs) {
  const { unit, per } = catalogue[id];
  return (unit.startsWith("µs") ? cpuUs : cpuUs / 1000) / per;
}

/** A loop may have any length: `W3-3200`. */
export function workloadOf(id, wire) {
  const [, iterations] = /^W3-(\d+)$/.exec(id) ?? [];
  return iterations === undefined
    ? catalogue[id].build(wire)
    : loop(wire, { iterations: Number(iterations) });
}

function text(wire, how, deltas = TEXT_DELTAS) {
  const literals = textDeltas(deltas);
  const expected = joined(literals);
  const responses = [cut(wires[wire].events({ text: literals }), how)];
  return {
    begin: () => [session({ wire, responses, transcriptText: expected, finalText: expected, tools: [] })],
  };
}

/** The text of W1 `times` over; what arrives is compared and forgotten, so that the host holds nothing of it. */
function longText(wire, times) {
  const literals = textDeltas(TEXT_DELTAS);
  const block = joined(literals);
  const events = wires[wire].events({ text: literals });
  const first = events.findIndex((event) => event.includes(literals[0]));
  const deltas = cut(events.slice(first, first + literals.length), "16k");
  const head = cut(events.slice(0, first), "16k");
  const tail = cut(events.slice(first + literals.length), "16k");
  const chunks = [...head, ...repeated(deltas, times), ...tail];
  const begin = () => {
    const base = session({ wire, responses: [chunks], transcriptText: "", finalText: undefined, tools: [] });
    let received = 0;
    const onText = (delta) => {
      for (let from = 0; from < delta.length;) {
        const at = received % block.length;
        const part = delta.slice(from, from + block.length - at);
        if (!block.startsWith(part, at)) throw new Error(`text differs at character ${received}`);
        from += part.length;
        received += part.length;
      }
    };
    const verify = (result) => {
      base.verify(result);
      if (result.bytes === undefined) expectEqual("characters of text", received, block.length * times);
    };
    return [{ ...base, options: { ...base.options, onText }, verify }];
  };
  return { begin };
}

function toolArguments(wire, size) {
  const written = documentOf(size);
  const json = JSON.stringify(written);
  const call = { id: "toolu_write_1", name: "write", pieces: pieces(json, ARGUMENT_DELTA_CHARS) };
  const responses = [{ calls: [call] }, { text: ['"Written."'] }].map((turn) =>
    cut(wires[wire].events(turn), "16k"),
  );
  const begin = () => {
    const received = [];
    const write = {
      name: "write",
      description: "Writes a file",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, content: { type: "string" } },
        required: ["path", "content"],
      },
      execute: (input) => {
        received.push(input);
        return "ok";
      },
    };
    const base = session({
      wire,
      responses,
      transcriptText: "Written.",
      finalText: "Written.",
      tools: [write],
    });
    const verify = (result, seen) => {
      base.verify(result, seen);
      if (result.bytes !== undefined) return;
      expectEqual("tool inputs", received, [written]);
      const [sent] = wires[wire].exchanges(bodyOf(seen)).filter(({ kind }) => kind === "call");
      expectEqual("arguments in the next request", sent.value, written);
    };
    return [{ ...base, verify: (result) => verify(result, base.seen) }];
  };
  return { begin };
}

/** `iterations` model calls with three parallel tool calls each, then one with text. `runs` of them in parallel. */
function loop(wire, { iterations, deltas = 0, runs = 1 }) {
  const spoken = textDeltas(deltas);
  const turns = Array.from({ length: iterations }, (_, iteration) => ({
    text: spoken,
    calls: Array.from({ length: PARALLEL_CALLS }, (_, at) => ({
      id: `toolu_${iteration}_${at}`,
      name: "lookup",
      pieces: pieces(JSON.stringify({ item: `${iteration}/${at}` }), 10),
    })),
  }));
  const responses = [...turns, { text: ['"Done."'] }].map((turn) => cut(wires[wire].events(turn), "16k"));
  const transcriptText = joined(spoken).repeat(iterations) + "Done.";
  const expected = turns.flatMap(({ calls }, iteration) => [
    ...calls.map(({ id }, at) => ({ kind: "call", id, value: { item: `${iteration}/${at}` } })),
    ...calls.map(({ id }, at) => ({ kind: "result", id, value: resultOf(`${iteration}/${at}`) })),
  ]);
  const grownBy = JSON.stringify(expected.slice(0, 2 * PARALLEL_CALLS)).length + spoken.join("").length;
  const bodyBytes = responses.map((_, iteration) => 500 + iteration * grownBy);
  const begin = () =>
    Array.from({ length: runs }, () => {
      const counter = { executed: 0 };
      const base = session({ wire, responses, transcriptText, finalText: "Done.", tools: [lookup(counter)] });
      const verify = (result) => {
        base.verify(result);
        if (result.bytes !== undefined) return;
        expectEqual("tool executions", counter.executed, iterations * PARALLEL_CALLS);
        expectHistory(wire, wires[wire].exchanges(bodyOf(base.seen)), expected);
      };
      return { ...base, task: { ...base.task, bodyBytes }, verify };
    });
  return { begin };
}

function lookup(counter) {
  return {
    name: "lookup",
    description: "Looks an item up",
    inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
    execute: ({ item }) => {
      counter.executed += 1;
      return resultOf(item);
    },
  };
}

/** What a contestant gets, and the checks that hold for every workload. */
function session({ wire, responses, transcriptText, finalText, tools }) {
  const { fetch, seen } = mockFetch(responses);
  let received = "";
  const onText = (delta) => {
    received += delta;
  };
  const verify = (result) => {
    expectEqual("requests", seen.requests, responses.length);
    if (result.bytes !== undefined) {
      const sent = responses.flat().reduce((sum, chunk) => sum + chunk.length, 0);
      return expectEqual("bytes", result.bytes, sent);
    }
    expectEqual("text from the callback", received, transcriptText);
    if (finalText !== undefined && result.text !== transcriptText)
      expectEqual("final text", result.text, finalText);
  };
  const task = { prompt: "Begin.", requests: responses.length };
  return { task, fetch, seen, options: { onText, tools, wire }, verify };
}

function expectHistory(wire, actual, expected) {
  const values = actual.map(({ kind, id, value }) => ({ kind, id, value }));
  expectEqual("calls and results of the last request", values, expected);
  if (!wires[wire].resultsShareAMessage) return;
  for (let from = 0; from < actual.length; from += 2 * PARALLEL_CALLS) {
    const places = actual
      .slice(from, from + 2 * PARALLEL_CALLS)
      .map(({ message }) => message - actual[from].message);
    expectEqual("messages of one iteration", places, [0, 0, 0, 1, 1, 1]);
  }
}

/** Says where the two part, since they may be megabytes long. */
function expectEqual(what, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return;
  const [got, wanted] = [actual, expected].map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  let at = 0;
  while (at < got?.length && got[at] === wanted[at]) at += 1;
  const around = (text) => JSON.stringify(String(text).slice(Math.max(0, at - 20), at + 40));
  throw new Error(`${what}: got ${around(got)}, expected ${around(wanted)} at character ${at}`);
}

function bodyOf({ lastBody }) {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(lastBody));
}

/** JSON string literals of 4 to 12 characters: plain ASCII mostly, the rest UTF-8 of 2 to 4 bytes and JSON escapes. */
function textDeltas(count) {
  const random = seeded(1);
  const ascii = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789.,:;-()";
  const special = [
    "é",
    "ß",
    "ж",
    "漢",
    "字",
    "€",
    "😀",
    "🌍",
    "\\n",
    '\\"',
    "\\\\",
    "\\t",
    "\\u00e9",
    "\\ud83d\\ude00",
  ];
  return Array.from({ length: count }, () => {
    const plain = random.between(1, 10) <= 7;
    let literal = "";
    for (let left = random.between(4, 12); left > 0; left -= 1) {
      literal +=
        !plain && random.between(1, 4) === 1
          ? random.pick(special)
          : ascii[random.between(0, ascii.length - 1)];
    }
    return `"${literal}"`;
  });
}

/** An input for the tool `write` with exactly `size` characters of JSON: ASCII code with its usual escapes. */
function documentOf(size) {
  const line =
    'const total = items.reduce((sum, item) => sum + item.price, 0);\n\tlog("total of all", total);\n';
  const empty = { path: "src/file.ts", content: "" };
  const room = size - JSON.stringify(empty).length;
  const lineSize = JSON.stringify(line).length - 2;
  const content = line.repeat(Math.floor(room / lineSize)) + "x".repeat(room % lineSize);
  return { ...empty, content };
}

function resultOf(item) {
  const head = `Item "${item}"\n`;
  return (
    head +
    "Some fact about this item, as a tool tells it. ".repeat(22).slice(0, TOOL_RESULT_CHARS - head.length)
  );
}

function pieces(string, length) {
  return Array.from({ length: Math.ceil(string.length / length) }, (_, at) =>
    string.slice(at * length, (at + 1) * length),
  );
}

function repeated(list, times) {
  return Array.from({ length: times }, () => list).flat();
}

function joined(literals) {
  return literals.map((literal) => JSON.parse(literal)).join("");
}
