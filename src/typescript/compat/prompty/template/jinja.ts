/**
 * The Jinja subset: `{{ a.b | upper }}`, `if`/`elif`/`else`, `for`, comments and trim markers. No text is escaped.
 *
 * `@huggingface/jinja` cannot replace it. It renders a text without the input that each piece came from, which
 * strict inputs need. It also has no limits: at version 0.5.11 two loops over `range(3000)` block for 10 s, 24
 * doublings in a loop make 168 MB, and 20,000 brackets overflow the stack.
 */
import { ValueError } from "../errors.js";
import { checkDepth, type Effort } from "./effort.js";
import { readExpression, type Expression, type Scope } from "./expression.js";
import { isMap } from "../file/frontmatter.js";
import { Segments, type Segment } from "./segments.js";
import type { PromptInputs } from "../types.js";
import { isTruthy, namesOf, printed } from "./values.js";

/** @throws ValueError for a template that is not of the subset */
export function renderJinja(
  template: string,
  inputs: PromptInputs,
  strict: Iterable<string> = [],
): Segment[] {
  const segments = new Segments(strict);
  const nodes = new Parser(template).all();
  const scope = { frames: [inputs], effort: segments.effort };
  for (const node of nodes) node({ scope, sources: [], segments });
  return segments.list;
}

interface Place {
  scope: Scope;
  /** The inputs of the variables of `for`, innermost first. */
  sources: readonly { readonly [name: string]: readonly string[] }[];
  segments: Segments;
}

type Node = (place: Place) => void;
type Token = { kind: "text" | "print" | "tag"; text: string };

/** What opens a part of a template, and what closes it. */
const PARTS = { "{{": "}}", "{%": "%}", "{#": "#}" } as const;

function* tokensOf(template: string): Generator<Token> {
  let [at, trims] = [0, false];
  const text = (end: number, trimsEnd: boolean): Token => {
    let piece = template.slice(at, end);
    if (trims) piece = piece.trimStart();
    return { kind: "text", text: trimsEnd ? piece.trimEnd() : piece };
  };
  // Closing marks that the rest of the template lacks are not looked for again.
  const missing = new Set<string>();
  for (let from = template.indexOf("{"); from >= 0; from = template.indexOf("{", Math.max(at, from + 1))) {
    const open = template.slice(from, from + 2) as keyof typeof PARTS;
    const closing = PARTS[open];
    if (closing === undefined || missing.has(closing)) continue;
    const trimsBefore = template[from + 2] === "-";
    const start = from + (trimsBefore ? 3 : 2);
    const end = template.indexOf(closing, start);
    if (end < 0) {
      missing.add(closing);
      continue;
    }
    yield text(from, trimsBefore);
    const inner = template.slice(start, end);
    trims = inner.endsWith("-");
    at = end + 2;
    const body = trims ? inner.slice(0, -1) : inner;
    if (open === "{{") yield { kind: "print", text: body };
    if (open === "{%") yield { kind: "tag", text: body.trim() };
  }
  yield text(template.length, false);
}

class Parser {
  readonly #tokens: Iterator<Token>;
  /** The tag that ended the last list of nodes. */
  #ended = "";
  #depth = 0;

  constructor(template: string) {
    this.#tokens = tokensOf(template);
  }

  all(): Node[] {
    return this.#until([]);
  }

  /** The nodes up to a tag that begins with one of the words. */
  #until(words: readonly string[]): Node[] {
    checkDepth(++this.#depth);
    const nodes: Node[] = [];
    for (;;) {
      const { value: token, done } = this.#tokens.next() as IteratorResult<Token, undefined>;
      if (done === true) {
        if (words.length > 0) throw new ValueError(`Invalid template: ${words.at(-1)} is missing`);
        this.#depth--;
        return nodes;
      }
      const { kind, text } = token;
      if (kind === "text") nodes.push(({ segments }) => segments.literal(text));
      else if (kind === "print") nodes.push(printNode(readExpression(text)));
      else {
        const word = /^\w*/.exec(text)![0];
        if (words.includes(word)) {
          this.#ended = text;
          this.#depth--;
          return nodes;
        }
        if (word === "if") nodes.push(this.#condition(text.slice(2)));
        else if (word === "for") nodes.push(this.#loop(text));
        else throw new ValueError(`Invalid template: {% ${text.slice(0, 100)} %} is not known here`);
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
      const { scope } = place;
      scope.effort.take();
      const taken = branches.find(([test]) => isTruthy(test.value(scope), scope.effort))?.[1] ?? otherwise;
      for (const node of taken) node(place);
    };
  }

  #loop(tag: string): Node {
    if (tag.length > MAX_TAG) throw new ValueError(`Invalid template: a tag has ${tag.length} characters`);
    const [, names, text] = /^for\s+(\w+(?:\s*,\s*\w+)?)\s+in\s+([\s\S]+)$/.exec(tag) ?? [];
    if (names === undefined)
      throw new ValueError(`Invalid template: {% ${tag.slice(0, 100)} %} is not a loop`);
    const [list, variables] = [readExpression(text!), names.split(/\s*,\s*/)];
    const nodes = this.#until(["else", "endfor"]);
    const otherwise = this.#ended === "else" ? this.#until(["endfor"]) : [];
    return (place) => {
      const items = itemsOf(list.value(place.scope), variables.length > 1, place.scope.effort);
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
        place.segments.effort.take();
        const scope = { ...place.scope, frames: [frame, ...place.scope.frames] };
        for (const node of nodes) node({ ...place, scope, sources });
      }
    };
  }
}

const IF = ["elif", "else", "endif"];
/** Characters of the tag of a loop. */
const MAX_TAG = 5000;

function printNode(expression: Expression): Node {
  return (place) =>
    place.segments.interp(
      printed(expression.value(place.scope), place.scope.effort),
      sourcesOf(expression, place),
    );
}

function sourcesOf({ names }: Expression, { sources, scope }: Place): string[] {
  const all = names.flatMap((name) => sources.find((frame) => Object.hasOwn(frame, name))?.[name] ?? [name]);
  scope.effort.gather(all);
  return [...new Set(all)];
}

/** The items of a list; the names of a mapping, or its pairs in a loop of two variables. */
function itemsOf(value: unknown, inPairs: boolean, effort: Effort): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isMap(value)) return [];
  const names = namesOf(value, effort);
  return inPairs ? names.map((name) => [name, value[name]]) : names;
}
