/**
 * The strings in the JSON of a body, whatever frames it: a whole body, lines, Server-Sent Events, binary frames. The
 * pieces of one text come in many events, so each string has a key that pieces of one text share.
 */

export interface JsonString {
  /** The path inside the event, with the numbers that distinguish its block. */
  readonly key: string;
  /** Its place in the body, without the quotes. */
  readonly start: number;
  readonly end: number;
}

/** Fields with numbers that distinguish blocks, choices and calls in vendors' events. */
const NUMBERS = /^(?:index|output_index|content_index|contentBlockIndex|summary_index)$/;

/** One event in progress: its strings wait for numbers that follow later. */
interface Event {
  readonly path: string[];
  readonly found: { path: string; start: number; end: number }[];
  readonly numbers: string[];
}

/** All strings that are values. A text that is no JSON has few and wrong ones, which harms nothing. */
export function jsonStrings(text: string): JsonString[] {
  const strings: JsonString[] = [];
  let event: Event = { path: [], found: [], numbers: [] };
  let name = "";
  const close = (): void => {
    const numbers = event.numbers.join();
    for (const { path, start, end } of event.found) strings.push({ key: `${numbers} ${path}`, start, end });
    event = { path: [], found: [], numbers: [] };
    name = "";
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at + 1);
      const isName = event.path.at(-1) === "{" && /^\s{0,64}:/.test(text.slice(end + 1, end + 66));
      if (isName) name = text.slice(at + 1, Math.min(end, at + 100));
      else event.found.push({ path: [...event.path, name].join("/"), start: at + 1, end });
      at = end;
    } else if (code === BRACE || code === BRACKET) {
      if (event.path.length < MAX_DEPTH) event.path.push(name, text[at]!);
      name = "";
    } else if (code === BRACE_END || code === BRACKET_END) {
      event.path.pop();
      event.path.pop();
      if (event.path.length === 0) close();
    } else if (code >= ZERO && code <= NINE && NUMBERS.test(name)) {
      const digits = /^\d{1,10}/.exec(text.slice(at, at + 10))![0];
      event.numbers.push(digits);
      name = "";
      at += digits.length - 1;
    } else if (isFrame(code) || (code === NEWLINE && text.startsWith("data:", at + 1))) close();
  }
  close();
  return strings;
}

const [QUOTE, BACKSLASH, NEWLINE, ZERO, NINE] = [0x22, 0x5c, 0x0a, 0x30, 0x39];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Deeper brackets change no key: no vendor nests its texts so. */
const MAX_DEPTH = 60;

/** Whether a character is not allowed in JSON: a byte of a binary frame. */
function isFrame(code: number): boolean {
  return (
    (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || (code >= 0xdc80 && code <= 0xdcff)
  );
}

/** The place of the closing quote; a line's end closes a string that was cut off. */
function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE || code === NEWLINE) return at;
  }
  return text.length;
}

/** A string as its reader sees it, and the place in `raw` of each character, and of the end. */
export function unescaped(raw: string): { text: string; at: (index: number) => number } {
  if (!raw.includes("\\")) return { text: raw, at: (index) => index };
  const places: number[] = [];
  let text = "";
  for (let at = 0; at < raw.length;) {
    const escaped = /^\\(?:u([0-9a-fA-F]{4})|([\s\S]))/.exec(raw.slice(at, at + 6));
    places.push(at);
    if (escaped === null) text += raw[at++]!;
    else {
      text +=
        escaped[1] === undefined
          ? (SHORT[escaped[2]!] ?? escaped[2]!)
          : String.fromCharCode(parseInt(escaped[1], 16));
      at += escaped[0].length;
    }
  }
  places.push(raw.length);
  return { text, at: (index) => places[index]! };
}

const SHORT: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
