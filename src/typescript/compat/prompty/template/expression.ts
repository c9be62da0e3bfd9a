/** Expressions of the Jinja subset: read once, evaluated without `eval`. */
import { ValueError } from "../errors.js";
import { checkDepth, type Effort } from "./effort.js";
import { applyFilter } from "./filters.js";
import { isTruthy, numberOf, printed } from "./values.js";

export interface Scope {
  /** The variables that an expression sees, innermost first. Only own properties count. */
  readonly frames: readonly { readonly [name: string]: unknown }[];
  readonly effort: Effort;
}

export interface Expression {
  value(scope: Scope): unknown;
  /** The variables that it reads, each once, in the order of the text. */
  readonly names: readonly string[];
}

/** The maximum number of characters of an expression. It limits how many operations follow each other. */
const MAX_EXPRESSION = 4000;

/** @throws ValueError for text that is not an expression of the subset */
export function readExpression(text: string): Expression {
  if (text.length > MAX_EXPRESSION)
    throw new ValueError(
      `Invalid template expression: ${text.slice(0, 100)}… has more than ${MAX_EXPRESSION} characters`,
    );
  const reader = new Reader(text);
  const value = reader.choice();
  // A long name costs more, because it is compared with the names of its scope.
  const steps = reader.end() + Math.floor(text.length / 100);
  return {
    names: [...new Set(reader.names)],
    value(scope) {
      scope.effort.take(steps);
      return value(scope);
    },
  };
}

type Node = (scope: Scope) => unknown;

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(==|!=|<=|>=|[-+*/%~<>()[\].,|]))/y;

class Reader {
  readonly names: string[] = [];
  readonly #tokens: { text: string; kind: "number" | "string" | "name" | "sign" }[] = [];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text.trim();
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < this.#text.length) {
      const found = TOKEN.exec(this.#text);
      if (found === null) this.#fail();
      const [, number, string, name, sign] = found!;
      const kind =
        number !== undefined
          ? "number"
          : string !== undefined
            ? "string"
            : name !== undefined
              ? "name"
              : "sign";
      this.#tokens.push({ kind, text: (number ?? string ?? name ?? sign)! });
    }
  }

  /** Returns the number of signs that it has read. */
  end(): number {
    if (this.#at < this.#tokens.length) this.#fail();
    return this.#at;
  }

  /** `a if b else c` */
  choice(): Node {
    checkDepth(++this.#depth);
    const value = this.#chosen();
    this.#depth--;
    return value;
  }

  #chosen(): Node {
    const value = this.#either();
    if (!this.#take("if")) return value;
    const test = this.#either();
    const other = this.#take("else") ? this.choice() : () => undefined;
    return (scope) => (isTruthy(test(scope), scope.effort) ? value(scope) : other(scope));
  }

  #either(): Node {
    let left = this.#both();
    while (this.#take("or")) {
      const [first, second] = [left, this.#both()];
      left = (scope) => {
        const value = first(scope);
        return isTruthy(value, scope.effort) ? value : second(scope);
      };
    }
    return left;
  }

  #both(): Node {
    let left = this.#negation();
    while (this.#take("and")) {
      const [first, second] = [left, this.#negation()];
      left = (scope) => {
        const value = first(scope);
        return isTruthy(value, scope.effort) ? second(scope) : value;
      };
    }
    return left;
  }

  #negation(): Node {
    let isNegated = false;
    let hasSign = false;
    while (this.#take("not")) [isNegated, hasSign] = [!isNegated, true];
    const value = this.#comparison();
    return hasSign ? (scope) => isTruthy(value(scope), scope.effort) !== isNegated : value;
  }

  #comparison(): Node {
    const left = this.#sum();
    if (this.#take("is")) {
      const isNot = this.#take("not");
      const test = this.#name();
      if (test !== "defined" && test !== "none" && test !== "undefined") this.#fail();
      return (scope) => {
        const value = left(scope);
        const holds = test === "none" ? value === null : (value === undefined) === (test === "undefined");
        return holds !== isNot;
      };
    }
    const isNot = this.#peek() === "not" && this.#take("not");
    if (this.#take("in")) {
      const right = this.#sum();
      return (scope) => {
        const [whole, part] = [right(scope), left(scope)];
        return contains(whole, part, scope.effort) !== isNot;
      };
    }
    if (isNot) this.#fail();
    const sign = ["==", "!=", "<=", ">=", "<", ">"].find((sign) => this.#take(sign));
    if (sign === undefined) return left;
    const right = this.#sum();
    return (scope) => compare(sign, left(scope), right(scope), scope.effort);
  }

  #sum(): Node {
    let left = this.#product();
    for (;;) {
      const sign = ["+", "-", "~"].find((sign) => this.#take(sign));
      if (sign === undefined) return left;
      const [first, second] = [left, this.#product()];
      left = (scope) => {
        const result = calculate(sign, first(scope), second(scope), scope.effort);
        scope.effort.look(result);
        return result;
      };
    }
  }

  #product(): Node {
    let left = this.#filtered();
    for (;;) {
      const sign = ["*", "/", "%"].find((sign) => this.#take(sign));
      if (sign === undefined) return left;
      const [first, second] = [left, this.#filtered()];
      left = (scope) => calculate(sign, first(scope), second(scope), scope.effort);
    }
  }

  #filtered(): Node {
    let value = this.#access();
    while (this.#take("|")) {
      const [inner, name] = [value, this.#name()];
      const given = this.#take("(") ? this.#list(")") : [];
      value = (scope) => {
        const filtered = inner(scope);
        scope.effort.look(filtered);
        const options = given.map((one) => one(scope));
        return applyFilter(name, filtered, options, scope.effort);
      };
    }
    return value;
  }

  #access(): Node {
    let value = this.#atom();
    for (;;) {
      const inner = value;
      if (this.#take(".")) {
        const token = this.#tokens[this.#at++];
        if (token?.kind !== "name" && token?.kind !== "number") this.#fail();
        const name = token!.text;
        value = (scope) => member(inner(scope), name);
      } else if (this.#take("[")) {
        const key = this.choice();
        this.#need("]");
        value = (scope) => {
          const [whole, name] = [inner(scope), key(scope)];
          scope.effort.look(name);
          return member(whole, name);
        };
      } else return value;
    }
  }

  #atom(): Node {
    const token = this.#tokens[this.#at++];
    if (token === undefined) return this.#fail();
    const { kind, text } = token;
    if (kind === "number") return () => Number(text);
    if (kind === "string") {
      const value = text
        .slice(1, -1)
        .replace(/\\(.)/gs, (_, sign: string) => (sign === "n" ? "\n" : sign === "t" ? "\t" : sign));
      return () => value;
    }
    if (kind === "name") {
      if (Object.hasOwn(LITERALS, text)) return () => LITERALS[text as "true"];
      this.names.push(text);
      return (scope) => variable(scope, text);
    }
    if (text === "(") {
      const value = this.choice();
      this.#need(")");
      return value;
    }
    if (text === "[") {
      const items = this.#list("]");
      return (scope) => items.map((item) => item(scope));
    }
    if (text === "-") {
      checkDepth(++this.#depth);
      const value = this.#access();
      this.#depth--;
      return (scope) => -numberOf(value(scope), scope.effort);
    }
    return this.#fail();
  }

  #list(end: string): Node[] {
    const items: Node[] = [];
    while (!this.#take(end)) {
      if (items.length > 0) this.#need(",");
      items.push(this.choice());
    }
    return items;
  }

  #name(): string {
    const token = this.#tokens[this.#at++];
    if (token?.kind !== "name") this.#fail();
    return token!.text;
  }

  #peek(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.kind === "string" ? undefined : token?.text;
  }

  #take(text: string): boolean {
    if (this.#peek() !== text) return false;
    this.#at++;
    return true;
  }

  #need(text: string): void {
    if (!this.#take(text)) this.#fail();
  }

  #fail(): never {
    throw new ValueError(`Invalid template expression: ${this.#text}`);
  }
}

const LITERALS = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  null: null,
} as const;

function variable({ frames }: Scope, name: string): unknown {
  return frames.find((frame) => Object.hasOwn(frame, name))?.[name];
}

/** An own property; no prototype is reached. */
function member(value: unknown, key: unknown): unknown {
  if (value === null || value === undefined || typeof key === "object") return undefined;
  if (Array.isArray(value) || typeof value === "string") {
    const at = Number(key);
    return Number.isInteger(at) ? value.at(at) : undefined;
  }
  return typeof value === "object" && Object.hasOwn(value, String(key))
    ? (value as { [name: string]: unknown })[String(key)]
    : undefined;
}

function contains(whole: unknown, part: unknown, effort: Effort): boolean {
  effort.look(whole);
  if (Array.isArray(whole)) {
    // Each text of the list may be compared with all of the part.
    if (typeof part === "string") effort.take(whole.length * Math.floor(part.length / 100));
    return whole.includes(part);
  }
  if (typeof whole !== "string")
    return typeof whole === "object" && whole !== null && Object.hasOwn(whole, printed(part, effort));
  const text = printed(part, effort);
  effort.search(whole, text);
  return whole.includes(text);
}

/** A list and a mapping are equal only to themselves, and have no order. */
function compare(sign: string, left: unknown, right: unknown, effort: Effort): boolean {
  effort.look(left);
  effort.look(right);
  if (sign === "==") return left === right;
  if (sign === "!=") return left !== right;
  if ([left, right].some((value) => typeof value === "object" && value !== null)) return false;
  const [first, second] = [left as number, right as number];
  if (sign === "<") return first < second;
  if (sign === ">") return first > second;
  return sign === "<=" ? first <= second : first >= second;
}

function calculate(sign: string, left: unknown, right: unknown, effort: Effort): unknown {
  if (sign === "~") return printed(left, effort) + printed(right, effort);
  if (sign === "+" && typeof left === "string") return left + printed(right, effort);
  const [first, second] = [numberOf(left, effort), numberOf(right, effort)];
  if (sign === "+") return first + second;
  if (sign === "-") return first - second;
  if (sign === "*") return first * second;
  return sign === "/" ? first / second : first % second;
}
