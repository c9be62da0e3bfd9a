// Lists that people keep by hand beside the generated types: the picture of the events, and the table of the limits.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const model = read("src/typescript/core/generated/model.ts");
const input = read("src/typescript/core/generated/input.ts");
const guide = read("docs/guide.md");

/** The declaration of a generated type. */
const declared = (text: string, name: string): string => {
  const found = new RegExp(`^export (?:type|interface) ${name} [^]*?(?=^export )`, "m").exec(text);
  if (!found) throw new Error(`${name} is not generated`);
  return found[0];
};

const words = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((found) => found[1]!);

const kinds = words(declared(model, "EventKind"), /^ {6}type: "([a-z-]+)"/gm);

/** The words of the picture that name events. `reasoning-…` stands for all events that begin so. */
const pictured = (() => {
  const comment = read("src/typescript/core/api/event.ts").split("*/")[0]!;
  const [, picture, below] = comment.split("```");
  const names = words(picture!, /(?<![\w-])([a-z]+(?:-[a-z]+)*(?:-…)?)(?=[*?\s]|$)/gm);
  return [...names, ...words(below!, /`([a-z-]+)`/g)];
})();

it("draws every event in the picture of a run", () => {
  const isDrawn = (kind: string) =>
    pictured.some((word) => word === kind || (word.endsWith("-…") && kind.startsWith(word.slice(0, -1))));
  expect(kinds.length).toBeGreaterThan(30);
  expect(kinds.filter((kind) => !isDrawn(kind))).toEqual([]);
});

it("draws no event that there is not", () => {
  const prefixes = pictured.filter((word) => word.endsWith("-…")).map((word) => word.slice(0, -1));
  expect(prefixes.filter((prefix) => !kinds.some((kind) => kind.startsWith(prefix)))).toEqual([]);
});

/** The options' names: the engine counts money in billionths. */
const fields = (name: string) =>
  words(declared(input, name), /^ {2}(\w+)\??:/gm).map((field) =>
    field === "maxCostNanoUsd" ? "maxUsd" : field,
  );

it("explains every limit in the guide's table", () => {
  const row = (field: string) => new RegExp(`^\\|[^|]*\`limits\\.${field}\``, "m");
  expect(fields("Limits").filter((field) => !row(field).test(guide))).toEqual([]);
});

it("lets onLimit raise every limit that is a number, but the depth of subagents", () => {
  const raised = fields("Raise");
  expect(fields("Limits").filter((field) => !raised.includes(field))).toEqual([
    "maxSubagentDepth",
    "estimateUsage",
  ]);
});

it("names every cause of a stop in the guide", () => {
  const causes = words(declared(model, "StoppedBy"), /^ {2}\| "(\w+)"/gm);
  expect(causes.length).toBeGreaterThan(10);
  expect(causes.filter((cause) => !guide.includes(`\`${cause}\``))).toEqual([]);
});
