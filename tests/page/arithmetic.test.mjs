// The calculator of the playground and of the terminal.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compute } from "../../examples/tools/arithmetic.mjs";

test("operators bind as in a book", () => {
  for (const [expression, value] of [
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["10 - 4 - 3", 3],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["2 ^ -1", 0.5],
    ["2 * -3", -6],
    ["7 % 4 + 1", 4],
    ["17 × 23 ÷ 2 − 1", 194.5],
    ["max(1, 2 + 3, 4) + sqrt(16)", 9],
    ["1.5e3 + .5", 1500.5],
    ["0.1 + 0.2", 0.3],
    ["round(PI * 100)", 314],
  ])
    assert.equal(compute(expression), value, expression);
});

test("what is no expression is refused with a hint", () => {
  for (const expression of [
    "",
    "2 +",
    "2 3",
    "(2",
    "2)",
    "(1, 2)",
    "process.exit()",
    "constructor",
    "toString()",
    "a = 1",
    "1; 2",
    "sin",
  ])
    assert.throws(() => compute(expression), { code: "bad_expression", hint: /Use numbers/ }, expression);
});

test("a value that is no number is an error, not an answer", () => {
  for (const expression of ["1 / 0", "sqrt(-1)", "10 ^ 999"])
    assert.throws(() => compute(expression), { code: "no_finite_value" }, expression);
});

test("an expression cannot grow without end", () => {
  assert.throws(() => compute("1+".repeat(1000) + "1"), { message: /longer than 500/ });
  assert.throws(() => compute("(".repeat(200) + "1" + ")".repeat(200)), { message: /nested too deeply/ });
  assert.throws(() => compute("-".repeat(400) + "1"), { message: /nested too deeply/ });
});
