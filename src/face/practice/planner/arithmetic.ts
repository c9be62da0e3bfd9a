/**
 * Finds arithmetic in a sentence and evaluates it: symbols, words ("12 times 7", "15 percent of 80", "the square root of
 * 144"), number words, parentheses. Expressions come out in plain infix notation that any calculator tool reads.
 */

/** An expression and where its two operands are, when it is a single operation. */
export interface Arithmetic {
  /** For instance `(3 + 4) * 2`; `^` is a power, `%` a remainder. */
  expression: string;
  value: number;
  /** Set when there is one operator between two plain numbers. */
  binary: { left: number; operator: string; right: number } | undefined;
}

/** All expressions in `text`, in order. A number alone is none. */
export function findArithmetic(text: string): Arithmetic[] {
  const source = toSymbols(text);
  const found: Arithmetic[] = [];
  for (let at = 0; at < source.length;) {
    const before = source[at - 1] ?? " ";
    const isStart = /[\d(.s-]/.test(source[at] ?? "") && !/[\w.$€£:/#-]/.test(before);
    const parsed = isStart ? new Parser(source, at).parse() : undefined;
    if (parsed && parsed.operators > 0 && !/^[\w%/:]/.test(source.slice(parsed.end))) {
      found.push({ expression: parsed.text, value: parsed.value, binary: parsed.binary });
      at = parsed.end;
    } else {
      at = parsed && parsed.end > at ? parsed.end : at + 1;
    }
  }
  return found;
}

/** Numbers in `text`, digits and number words, in order; those of dates and times are left out. */
export function findNumbers(text: string): number[] {
  const source = wordsToDigits(hideDates(text));
  return [...source.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?(?!\w)/g)].map((match) => Number(match[0]));
}

/** `value` as a person writes it: at most ten significant decimals. */
export function showNumber(value: number): string {
  return String(Number(value.toPrecision(12)));
}

const WORD_OPERATORS: readonly [RegExp, string][] = [
  [/\b(?:the )?sum of (\S+) and (\S+)/gi, "$1 + $2"],
  [/\b(?:the )?product of (\S+) and (\S+)/gi, "$1 * $2"],
  [/\b(?:the )?difference (?:between|of) (\S+) and (\S+)/gi, "$1 - $2"],
  [/\b(?:the )?quotient of (\S+) and (\S+)/gi, "$1 / $2"],
  [/\badd (\d\S*) (?:and|to) (\d\S*)/gi, "$1 + $2"],
  [/\bsubtract (\d\S*) from (\d\S*)/gi, "$2 - $1"],
  [/\bmultiply (\d\S*) (?:by|and|with) (\d\S*)/gi, "$1 * $2"],
  [/\bdivide (\d\S*) by (\d\S*)/gi, "$1 / $2"],
  [/(\d)\s*(?:%|\bpercent\b|\bper cent\b) of (?:the )?/gi, "$1 / 100 * "],
  [/\b(?:the )?(?:square root|sqrt) of (\d[\d.]*)/gi, "sqrt($1)"],
  [/\bhalf of (\d[\d.]*)/gi, "$1 / 2"],
  [/\b(?:twice|double) (\d[\d.]*)/gi, "$1 * 2"],
  [/(\d)\s+squared\b/gi, "$1 ^ 2"],
  [/(\d)\s+cubed\b/gi, "$1 ^ 3"],
  [/(\d|\))\s*(?:\*\*|\bto the power of\b|\braised to(?: the)?\b)\s*(?=\d|\()/gi, "$1 ^ "],
  [/(\d|\))\s*(?:\bmultiplied by\b|\btimes\b|×|·|\bx\b)\s*(?=\d|\(|-|s)/gi, "$1 * "],
  [/(\d|\))\s*(?:\bdivided by\b|\bover\b|÷)\s*(?=\d|\(|-|s)/gi, "$1 / "],
  [/(\d|\))\s*\b(?:plus|added to)\b\s*(?=\d|\(|-|s)/gi, "$1 + "],
  [/(\d|\))\s*(?:\b(?:minus|less)\b|−|–)\s*(?=\d|\(|-|s)/gi, "$1 - "],
  [/(\d|\))\s*\bmod(?:ulo)?\b\s*(?=\d|\()/gi, "$1 % "],
];

function toSymbols(text: string): string {
  let source = wordsToDigits(hideDates(text));
  for (const [pattern, symbol] of WORD_OPERATORS) source = source.replace(pattern, symbol);
  return source;
}

function hideDates(text: string): string {
  return text
    .replace(/\b\d{4}-\d{2}-\d{2}\S*/g, (date) => "_".repeat(date.length))
    .replace(/\b\d{1,2}:\d{2}(?::\d{2})?/g, (time) => "_".repeat(time.length))
    .replace(/(\d),(?=\d{3}\b)/g, "$1");
}

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Record<string, number> = { hundred: 100, thousand: 1000, million: 1_000_000 };
const NUMBER_WORD = [...SMALL, ...TENS].join("|");
const NUMBER_WORDS = new RegExp(
  `\\b(?:${NUMBER_WORD})(?:[ -](?:${NUMBER_WORD}|hundred|thousand|million|and(?= (?:${NUMBER_WORD})\\b)))*\\b`,
  "gi",
);

/** "twenty-one" becomes 21; "and" joins only behind a scale, so that "two and three" stay two numbers. */
function wordsToDigits(text: string): string {
  return text.replace(NUMBER_WORDS, (phrase) => {
    const out: string[] = [];
    let total = 0;
    let current = 0;
    let last = Infinity;
    const flush = () => {
      if (last !== Infinity) out.push(String(total + current));
      [total, current, last] = [0, 0, Infinity];
    };
    for (const word of phrase.toLowerCase().split(/[ -]/)) {
      const scale = SCALES[word];
      if (word === "and") {
        if (last < 100 || last === Infinity) {
          flush();
          out.push("and");
        }
      } else if (scale === 100) {
        current *= 100;
        last = 100;
      } else if (scale !== undefined) {
        total += current * scale;
        [current, last] = [0, scale];
      } else {
        const tens = TENS.indexOf(word);
        const value = tens >= 0 ? (tens + 2) * 10 : SMALL.indexOf(word);
        const fits = last >= 100 || (last >= 20 && last < 100 && value > 0 && value < 10);
        if (!fits) flush();
        current += value;
        last = Math.max(1, value);
      }
    }
    flush();
    return out.join(" ");
  });
}

interface Parsed {
  text: string;
  value: number;
  operators: number;
  end: number;
  binary: Arithmetic["binary"];
}

const POWER = 3;
const PRECEDENCE: Record<string, number> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": POWER };
const MAX_DEPTH = 50;

/** Precedence climbing over the symbols; stops quietly where the arithmetic ends. */
class Parser {
  readonly #source: string;
  #at: number;
  #depth = 0;

  constructor(source: string, at: number) {
    this.#source = source;
    this.#at = at;
  }

  parse(): Parsed | undefined {
    return this.#expression(1);
  }

  #expression(lowest: number): Parsed | undefined {
    let left = this.#operand();
    while (left) {
      const from: number = this.#at;
      const operator = this.#operator();
      const rank = PRECEDENCE[operator] ?? 0;
      const right: Parsed | undefined =
        rank >= lowest ? this.#expression(operator === "^" ? POWER : rank + 1) : undefined;
      if (!right) {
        this.#at = from;
        return left;
      }
      const isPlain: boolean = left.operators === 0 && right.operators === 0;
      left = {
        text: `${left.text} ${operator} ${right.text}`,
        value: apply(operator, left.value, right.value),
        operators: left.operators + right.operators + 1,
        end: right.end,
        binary: isPlain ? { left: left.value, operator, right: right.value } : undefined,
      };
    }
    return left;
  }

  #operand(): Parsed | undefined {
    this.#skipBlanks();
    const rest = this.#source.slice(this.#at, this.#at + 40);
    const opening = /^(sqrt)?\(/.exec(rest);
    if (opening && this.#depth < MAX_DEPTH) return this.#parenthesis(opening[0], opening[1] !== undefined);
    const number = /^-?(?:\d+(?:\.\d+)?|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return undefined;
    this.#at += number.length;
    return { text: number, value: Number(number), operators: 0, end: this.#at, binary: undefined };
  }

  #parenthesis(opening: string, isRoot: boolean): Parsed | undefined {
    this.#depth += 1;
    this.#at += opening.length;
    const inner = this.#expression(1);
    this.#depth -= 1;
    this.#skipBlanks();
    if (!inner || this.#source[this.#at] !== ")") return undefined;
    this.#at += 1;
    return {
      text: `${opening}${inner.text})`,
      value: isRoot ? Math.sqrt(inner.value) : inner.value,
      operators: inner.operators + (isRoot ? 1 : 0),
      end: this.#at,
      binary: undefined,
    };
  }

  #operator(): string {
    this.#skipBlanks();
    const symbol = this.#source[this.#at] ?? "";
    if (symbol !== "" && "+-*/%^".includes(symbol)) this.#at += 1;
    return symbol;
  }

  #skipBlanks(): void {
    while (this.#source[this.#at] === " ") this.#at += 1;
  }
}

function apply(operator: string, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    default:
      return left ** right;
  }
}
