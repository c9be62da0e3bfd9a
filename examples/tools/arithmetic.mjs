// @ts-check
// Reads and computes an arithmetic expression: numbers, + - * / % ^, brackets, a few functions and constants. A
// parser by precedence climbing; nothing is ever handed to the JavaScript engine to evaluate.
import { ToolError } from "looplet";

/** Longest expression in characters, and deepest nesting: recursion stays far from the end of the stack. */
const maxLength = 500;
const maxDepth = 50;

/** @type {Record<string, (...values: number[]) => number>} */
const functions = {
  abs: Math.abs,
  ceil: Math.ceil,
  cos: Math.cos,
  floor: Math.floor,
  ln: Math.log,
  log: Math.log10,
  max: Math.max,
  min: Math.min,
  round: Math.round,
  sin: Math.sin,
  sqrt: Math.sqrt,
  tan: Math.tan,
};

/** @type {Record<string, number>} */
const constants = { pi: Math.PI, e: Math.E };

/** @type {Record<string, { power: number, isRightToLeft?: boolean, apply: (a: number, b: number) => number }>} */
const operators = {
  "+": { power: 1, apply: (a, b) => a + b },
  "-": { power: 1, apply: (a, b) => a - b },
  "*": { power: 2, apply: (a, b) => a * b },
  "/": { power: 2, apply: (a, b) => a / b },
  "%": { power: 2, apply: (a, b) => a % b },
  "^": { power: 4, isRightToLeft: true, apply: (a, b) => a ** b },
};
/** A sign binds tighter than a product and looser than a power: -2^2 is -4. */
const signPower = 3;

/**
 * The value of `expression`, for example `(2 + 3) * sqrt(16)`.
 *
 * @param {string} expression up to 500 characters
 * @returns {number} finite
 * @throws {ToolError} `bad_expression`, `no_finite_value`
 */
export function compute(expression) {
  if (expression.length > maxLength) throw bad(`is longer than ${maxLength} characters`);
  const tokens = tokenise(expression);
  let at = 0;

  const value = climb(0, 0);
  if (at < tokens.length) throw bad(`has "${tokens[at]}" where nothing or an operator belongs`);
  if (!Number.isFinite(value))
    throw new ToolError({
      code: "no_finite_value",
      message: `${expression} has no finite value.`,
      hint: "Check for a division by zero or a root of a negative number.",
    });
  // 0.1 + 0.2 is 0.3 for a reader.
  return Number(value.toPrecision(15));

  /** @param {number} minPower @param {number} depth @returns {number} */
  function climb(minPower, depth) {
    if (depth > maxDepth) throw bad("is nested too deeply");
    let left = operand(depth);
    for (;;) {
      const operator = operators[tokens[at] ?? ""];
      if (!operator || operator.power < minPower) return left;
      at += 1;
      left = operator.apply(
        left,
        climb(operator.isRightToLeft ? operator.power : operator.power + 1, depth + 1),
      );
    }
  }

  /** @param {number} depth @returns {number} */
  function operand(depth) {
    const token = tokens[at];
    at += 1;
    if (token === undefined) throw bad("ends too early");
    if (token === "-") return -climb(signPower, depth + 1);
    if (token === "+") return climb(signPower, depth + 1);
    if (token === "(") return lastOf(list(depth));
    if (/^[\d.]/.test(token)) return Number(token);
    const name = token.toLowerCase();
    if (Object.hasOwn(functions, name) && tokens[at] === "(") {
      at += 1;
      return /** @type {(...values: number[]) => number} */ (functions[name])(...list(depth));
    }
    if (Object.hasOwn(constants, name)) return /** @type {number} */ (constants[name]);
    throw bad(`has "${token}", which is no number, function or constant`);
  }

  /** The values up to the closing bracket. @param {number} depth @returns {number[]} */
  function list(depth) {
    const values = [climb(0, depth + 1)];
    while (tokens[at] === ",") {
      at += 1;
      values.push(climb(0, depth + 1));
    }
    if (tokens[at] !== ")") throw bad("has a bracket that is not closed");
    at += 1;
    return values;
  }
}

/** @param {number[]} values @returns {number} */
function lastOf(values) {
  if (values.length !== 1) throw bad("has a comma outside a function");
  return /** @type {number} */ (values[0]);
}

/** @param {string} expression @returns {string[]} */
function tokenise(expression) {
  const plain = expression
    .replaceAll("×", "*")
    .replaceAll("·", "*")
    .replaceAll("÷", "/")
    .replaceAll("−", "-")
    .replaceAll("**", "^");
  const tokens = plain.match(/(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[a-z_]\w*|\S/gi) ?? [];
  if (tokens.length === 0) throw bad("is empty");
  return tokens;
}

/** @param {string} what */
function bad(what) {
  return new ToolError({
    code: "bad_expression",
    message: `The expression ${what}.`,
    hint: `Use numbers, + - * / % ^, brackets, ${Object.keys(functions).join(", ")}, pi and e.`,
  });
}
