/** Code that adds `get`, `set` or `value` to the prototype of every object breaks no property that looplet defines. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterEach, expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";

const SRC = new URL("../../../src", import.meta.url).pathname;
const NAMES = ["get", "set", "value"];

const clean = (): void => {
  for (const name of NAMES) delete (Object.prototype as { [name: string]: unknown })[name];
};

afterEach(clean);

it("a run ends as usual, with its calls and its history", async () => {
  const add = tool({
    description: "Adds",
    inputSchema: { type: "object", properties: {} },
    readOnly: true,
    execute: () => ({ sum: 3 }),
  });
  const model = custom(({ messages }) =>
    messages.length === 1 ? [{ type: "tool_call", id: "c", name: "add", input: {} }] : "Three.",
  );
  const agent = createAgent({ model, tools: { add } });
  // Node loads its own `fetch` by such descriptors, at the first use.
  await agent.run("Add.").result;
  for (const name of NAMES)
    Object.defineProperty(Object.prototype, name, {
      __proto__: null,
      value: () => "polluted",
      configurable: true,
      writable: true,
    } as PropertyDescriptor);
  const result = await agent.run("Add.").result;
  const { outcome, text, messages, toolCalls } = result;
  clean();
  expect([outcome, text, messages.length, toolCalls.length]).toEqual(["completed", "Three.", 4, 1]);
});

/** The descriptors that a call defines, as far as they are literals. */
function descriptorsOf(call: ts.CallExpression): ts.Expression[] {
  const name = call.expression.getText();
  const [, second, third] = call.arguments;
  if (/\.defineProperty$/.test(name) && name !== "Reflect.defineProperty") return third ? [third] : [];
  if (name !== "Object.defineProperties" && name !== "Object.create") return [];
  if (second === undefined || !ts.isObjectLiteralExpression(second)) return second ? [second] : [];
  return second.properties.flatMap((one) => (ts.isPropertyAssignment(one) ? [one.initializer] : []));
}

function hasNoPrototype(given: ts.Expression): boolean {
  const value = ts.isAsExpression(given) ? given.expression : given;
  const [first] = ts.isObjectLiteralExpression(value) ? value.properties : [];
  return first?.getText() === "__proto__: null";
}

it("each descriptor in the source has no prototype", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const wrong: string[] = [];
  let count = 0;
  for (const file of files) {
    const text = readFileSync(join(SRC, file), "utf8");
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node))
        for (const one of descriptorsOf(node)) {
          count += 1;
          if (!hasNoPrototype(one)) wrong.push(`${file}: ${one.getText().slice(0, 60)}`);
        }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(10);
});
