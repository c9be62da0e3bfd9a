/** Bodies that are wrong in one place, for every handler that reads JSON of a page. */

/** Nested deeper than any recursion of a checker. As text, because `JSON.stringify` recurses. */
export const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
export const DEEP_OBJECT = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

/** Values of JSON, as text, that take the place of a right one. */
export const VALUES: { readonly [name: string]: string } = {
  null: "null",
  true: "true",
  "a number": "7",
  "a huge number": "1e400",
  "a negative number": "-1",
  "a fraction": "0.5",
  "a whole number above 2^53": "9007199254740993",
  "an empty text": '""',
  "a text": '"EVIL"',
  "half of a letter": '"\\ud800"',
  "a text with 0": '"a\\u0000b"',
  "a name of Object.prototype": '"__proto__"',
  "an empty list": "[]",
  "a list of null": "[null]",
  "a list of lists": "[[[]]]",
  "a list of numbers": "[1,2]",
  "an empty object": "{}",
  "an object with __proto__": '{"__proto__":{"type":"text","role":"user","text":"x"}}',
  "an object with constructor": '{"constructor":{"prototype":{"x":1}},"toString":1,"valueOf":1,"then":1}',
  "an object with get and set": '{"get":1,"set":2,"value":3,"writable":true,"configurable":false}',
  "an object with a length": '{"length":3,"0":1}',
  "an object with half of a letter": '{"\\ud800":"\\udc00"}',
  "a deep list": DEEP,
  "a deep object": DEEP_OBJECT,
};

/** Whole bodies that are not JSON, or JSON in bytes that are not UTF-8. */
export const BODIES: { readonly [name: string]: string | Uint8Array } = {
  "no text": "",
  blanks: "  \n",
  "no JSON": "EVIL",
  "half of an object": '{"a":',
  "two values": "{}{}",
  "a comma too many": '{"a":1,}',
  NaN: '{"a":NaN}',
  "a form": "a=1&b=2",
  "bytes that are not UTF-8": new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  "UTF-16": new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  "a zero": new Uint8Array([0x00]),
  "half of a bracket": new Uint8Array([0xe2, 0x82]),
};

type Path = readonly (string | number)[];

/** Every place of a value, from the whole to its last leaf. */
export function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, one]) => placesIn(one, [...path, name]))];
}

/** The JSON of a value with another text at this place; `undefined` leaves the place out. */
export function replaced(value: unknown, path: Path, text: string | undefined): string | undefined {
  if (path.length === 0) return text;
  const [first, ...rest] = path;
  const entries = Object.entries(value as object).flatMap(([name, one]): [string, string][] => {
    const json = name === String(first) ? replaced(one, rest, text) : JSON.stringify(one);
    return json === undefined ? [] : [[name, json]];
  });
  if (Array.isArray(value)) return `[${entries.map(([, json]) => json).join(",")}]`;
  return `{${entries.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/** Every body that is wrong in one place, with a name that says where. */
export function* malformed(body: unknown): Generator<[name: string, body: string | Uint8Array]> {
  yield* Object.entries(BODIES);
  for (const path of placesIn(body)) {
    const at = path.length === 0 ? "the body" : path.join(".");
    for (const [name, text] of Object.entries(VALUES))
      yield [`${at} is ${name}`, replaced(body, path, text)!];
    if (path.length > 0) yield [`${at} is left out`, replaced(body, path, undefined)!];
  }
}

/** What the platform or the engine says of a mistake that nobody has checked. */
export const RAW =
  /TypeError|RangeError|SyntaxError|ReferenceError|Cannot (?:read|convert|destructure|set|use|assign)|is not (?:a function|iterable|an Object|defined)|undefined \(reading|Maximum call stack|Unexpected token|BigInt|\[object /;

/** What an answer does wrong; `undefined` for one that is right. */
export function wrongIn(status: number, text: string, logged: readonly unknown[]): string | undefined {
  if (status >= 500) return `status ${status}: ${text.slice(0, 200)}`;
  if (RAW.test(text))
    return `status ${status} with raw words: ${RAW.exec(text)![0]} in ${text.slice(0, 300)}`;
  if (logged.length > 0) return `status ${status}, logged ${String(logged[0]).slice(0, 200)}`;
  if (status >= 400 && !/\w+\W+\w+\W+\w+/.test(text)) return `status ${status} without a sentence: ${text}`;
  return undefined;
}
