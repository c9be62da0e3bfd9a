/** Scores how well a tool fits a piece of a prompt, by the words of its name, its description and its parameters. */
import type { ToolSpec } from "../conversation.js";
import { isObject, listOf } from "../json.js";
import { findArithmetic, kindOf, operatorIn, valuesOf } from "./values.js";
import { isDeed, splitName, stems } from "./words.js";

/** The properties of the input of a tool. */
export function propertiesOf({ schema }: ToolSpec): Record<string, any> {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

/** Whether the tool takes a prompt and nothing else, as an agent does. */
export const isAgent = (tool: ToolSpec) => Object.keys(propertiesOf(tool)).join() === "prompt";

/** The operator that a tool such as `add(a, b)` performs, when it takes exactly two numbers. */
export function operationOf(tool: ToolSpec): string | undefined {
  const types = Object.values(propertiesOf(tool)).map((property) => property?.type);
  if (types.length !== 2 || !types.every((type) => type === "number" || type === "integer")) return undefined;
  return operatorIn(splitName(tool.name)) ?? operatorIn(tool.description);
}

/** A tool with its score for any piece of a prompt. */
export interface Candidate {
  tool: ToolSpec;
  scoreFor(text: string): number;
}

/** Prepares a tool for comparison. */
export function candidateOf(tool: ToolSpec): Candidate {
  const properties = Object.entries(propertiesOf(tool));
  const name = stems(tool.name);
  const description = stems(tool.description);
  const parameters = properties.flatMap(([key, value]) =>
    [key, ...listOf(value?.enum)].map(String).flatMap(stems),
  );
  const deed = [...name, ...description.slice(0, 1)].find(isDeed);
  const kinds = properties.map(([key, value]) => kindOf(key, value ?? {}));
  const operator = operationOf(tool);
  const asks = listOf(tool.schema["required"]).length > 0;
  // Agents are asked by their names: for all that they can do, there may be a tool too.
  const called = new RegExp(`(?<![\\w-])${splitName(tool.name).replace(/\W+/g, "[ _-]?")}(?![\\w-])`, "i");
  const isPlain = !isAgent(tool) && !/[_-]|[a-z][A-Z]/.test(tool.name);

  const scoreFor = (text: string) => {
    if (!isPlain && called.test(text)) return 20;
    if (isAgent(tool)) return 0;
    const [sum] = findArithmetic(text);
    if (operator !== undefined && sum !== undefined)
      return /^\S+ (\S) \S+$/.exec(sum)?.[1] === operator ? 7 : 0;
    if (operator !== undefined) return operatorIn(text) === operator && /\d/.test(text) ? 4 : 0;
    const said = stems(text);
    const things = said.filter((word) => !isDeed(word));
    const isSum = sum !== undefined && kinds.includes("expression");
    const isFirst = name.includes(said[0] ?? "");
    // "Write a poem" is not about notes, but "save it" may be.
    const isAbout = (word: string) => name.includes(word) || description.includes(word);
    if (!isSum && !(things.length > 0 ? things.some(isAbout) : isFirst)) return 0;
    const hits = said.map((word) =>
      name.includes(word) ? 3 : description.includes(word) || parameters.includes(word) ? 1 : 0,
    );
    const wanted = said.find(isDeed);
    const deeds = wanted === undefined || deed === undefined ? 0 : wanted === deed ? 2 : -6;
    // A text with nothing to say needs a tool that asks for nothing.
    const isLeft = !things.every(isAbout);
    const isPlaced = kinds.some((kind) => /^(?:place|zone)$/.test(kind) && valuesOf(kind, text).length > 0);
    const covered = (2 * hits.filter(Boolean).length) / Math.max(1, said.length);
    const bonus = [isSum && 5, isFirst && 2, isPlaced && 1, isLeft === asks && 0.5, deeds].map(Number);
    return [...hits, ...bonus].reduce((total, part) => total + part, covered);
  };
  return { tool, scoreFor };
}

const MIN_SCORE = 3;

/** The best tool for `text`, if any fits. */
export function bestMatch(candidates: readonly Candidate[], text: string): ToolSpec | undefined {
  const scored = candidates.map(({ tool, scoreFor }) => ({ tool, score: scoreFor(text) }));
  return scored.filter(({ score }) => score >= MIN_SCORE).sort((a, b) => b.score - a.score)[0]?.tool;
}
