/** The Jinja subset: `{{ a.b | upper }}`, `if`/`elif`/`else`, `for`, comments and trim markers. No text is escaped. */
import { ValueError } from "../errors.js";
import { readExpression, type Expression, type Scope } from "./expression.js";
import { isMap } from "../file/frontmatter.js";
import { Segments, type Segment } from "./segments.js";
import type { Inputs } from "../types.js";
import { isTruthy, printed } from "./values.js";

/** @throws ValueError for a template that is not of the subset */
export function renderJinja(template: string, inputs: Inputs, strict: Iterable<string> = []): Segment[] {
  const segments = new Segments(strict);
  const nodes = new Parser(template).all();
  for (const node of nodes) node({ scope: [inputs], sources: [], segments });
  return segments.list;
}

interface Place {
  scope: Scope;
  /** The inputs behind the variables of `for`, innermost first. */
  sources: readonly { readonly [name: string]: readonly string[] }[];
  segments: Segments;
}

type Node = (place: Place) => void;
type Token = { kind: "text" | "print" | "tag"; text: string };

const PART = /\{\{(-?)([\s\S]*?)(-?)\}\}|\{%(-?)([\s\S]*?)(-?)%\}|\{#(-?)[\s\S]*?(-?)#\}/g;

function* tokensOf(template: string): Generator<Token> {
  let [at, trims] = [0, false];
  const text = (end: number, trimsEnd: boolean): Token => {
    let piece = template.slice(at, end);
    if (trims) piece = piece.trimStart();
    return { kind: "text", text: trimsEnd ? piece.trimEnd() : piece };
  };
  for (const found of template.matchAll(PART)) {
    const [whole, printBefore, print, printAfter, tagBefore, tag, tagAfter, before, after] = found;
    yield text(found.index, [printBefore, tagBefore, before].includes("-"));
    [at, trims] = [found.index + whole.length, [printAfter, tagAfter, after].includes("-")];
    if (print !== undefined) yield { kind: "print", text: print };
    if (tag !== undefined) yield { kind: "tag", text: tag.trim() };
  }
  yield text(template.length, false);
}

class Parser {
  readonly #tokens: Iterator<Token>;
  /** The tag that ended the last list of nodes. */
  #ended = "";

  constructor(template: string) {
    this.#tokens = tokensOf(template);
  }

  all(): Node[] {
    return this.#until([]);
  }

  /** The nodes up to a tag that begins with one of the words. */
  #until(words: readonly string[]): Node[] {
    const nodes: Node[] = [];
    for (;;) {
      const { value: token, done } = this.#tokens.next() as IteratorResult<Token, undefined>;
      if (done === true) {
        if (words.length > 0) throw new ValueError(`Invalid template: ${words.at(-1)} is missing`);
        return nodes;
      }
      const { kind, text } = token;
      if (kind === "text") nodes.push(({ segments }) => segments.literal(text));
      else if (kind === "print") nodes.push(printNode(readExpression(text)));
      else {
        const word = /^\w*/.exec(text)![0];
        if (words.includes(word)) {
          this.#ended = text;
          return nodes;
        }
        if (word === "if") nodes.push(this.#condition(text.slice(2)));
        else if (word === "for") nodes.push(this.#loop(text));
        else throw new ValueError(`Invalid template: {% ${text} %} is not known here`);
      }
    }
  }

  #condition(test: string): Node {
    const branches: [test: Expression, nodes: Node[]][] = [[readExpression(test), this.#until(IF)]];
    let otherwise: Node[] = [];
    while (this.#ended !== "endif") {
      const tag = this.#ended;
      if (tag.startsWith("elif")) branches.push([readExpression(tag.slice(4)), this.#until(IF)]);
      else otherwise = this.#until(["endif"]);
    }
    return (place) => {
      const taken = branches.find(([test]) => isTruthy(test.value(place.scope)))?.[1] ?? otherwise;
      for (const node of taken) node(place);
    };
  }

  #loop(tag: string): Node {
    const [, names, text] = /^for\s+(\w+(?:\s*,\s*\w+)?)\s+in\s+([\s\S]+)$/.exec(tag) ?? [];
    if (names === undefined) throw new ValueError(`Invalid template: {% ${tag} %} is not a loop`);
    const [list, variables] = [readExpression(text!), names.split(/\s*,\s*/)];
    const nodes = this.#until(["else", "endfor"]);
    const otherwise = this.#ended === "else" ? this.#until(["endfor"]) : [];
    return (place) => {
      const items = itemsOf(list.value(place.scope), variables.length > 1);
      if (items.length === 0) for (const node of otherwise) node(place);
      const from = sourcesOf(list, place);
      const sources = [Object.fromEntries(variables.map((name) => [name, from])), ...place.sources];
      for (const [index, item] of items.entries()) {
        const [first, last, length] = [index === 0, index === items.length - 1, items.length];
        const parts = variables.length > 1 && Array.isArray(item) ? (item as unknown[]) : [item];
        const frame = {
          ...Object.fromEntries(variables.map((name, at) => [name, parts[at]])),
          loop: { index: index + 1, index0: index, first, last, length },
        };
        for (const node of nodes) node({ ...place, scope: [frame, ...place.scope], sources });
      }
    };
  }
}

const IF = ["elif", "else", "endif"];

function printNode(expression: Expression): Node {
  return (place) =>
    place.segments.interp(printed(expression.value(place.scope)), sourcesOf(expression, place));
}

function sourcesOf({ names }: Expression, { sources }: Place): string[] {
  return names.flatMap((name) => sources.find((frame) => Object.hasOwn(frame, name))?.[name] ?? [name]);
}

/** The items of a list; the names of a mapping, or its pairs in a loop of two variables. */
function itemsOf(value: unknown, inPairs: boolean): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isMap(value)) return [];
  return inPairs ? Object.entries(value) : Object.keys(value);
}
