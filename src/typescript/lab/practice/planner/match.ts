/** Finds the tool that fits a piece of a prompt best, by the words of its name, its description and its parameters. */
import type { ToolSpec } from "../conversation.js";
import { isObject, listOf } from "../json.js";
import { findArithmetic, kindOf, operatorIn } from "./values.js";
import { isDeed, splitName, stems } from "./words.js";

/** The properties of the input of a tool. */
export function propertiesOf({ schema }: ToolSpec): Record<string, any> {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

/** Whether the tool takes a prompt and nothing else, as an agent does. */
export const isAgent = (tool: ToolSpec) => Object.keys(propertiesOf(tool)).join() === "prompt";

/** A tool's name as users write it: with spaces, or in one word. */
export const spoken = (tool: ToolSpec) => splitName(tool.name).replace(/\W+/g, "[ _-]?");

/** The operator that a tool such as `add(a, b)` performs, when it takes exactly two numbers. */
function operatorOf(tool: ToolSpec): string | undefined {
  const types = Object.values(propertiesOf(tool)).map((property) => property?.type);
  if (types.length !== 2 || !types.every((type) => type === "number" || type === "integer")) return undefined;
  return operatorIn(splitName(tool.name)) ?? operatorIn(tool.description);
}

const MIN_SCORE = 2;

/** The best tool for `text`, if any fits. */
export function bestMatch(tools: readonly ToolSpec[], text: string): ToolSpec | undefined {
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, text) }));
  return scored.filter(({ score }) => score >= MIN_SCORE).sort((a, b) => b.score - a.score)[0]?.tool;
}

function scoreOf(tool: ToolSpec, text: string): number {
  // Agents are asked by their names: for all that they can do, there may be a tool too.
  const isNamed = isAgent(tool) || /[_-]|[a-z][A-Z]/.test(tool.name);
  if (isNamed && new RegExp(`(?<![\\w-])${spoken(tool)}(?![\\w-])`, "i").test(text)) return 20;
  if (isAgent(tool)) return 0;
  const operator = operatorOf(tool);
  const [sum] = findArithmetic(text);
  if (operator !== undefined && sum !== undefined)
    return /^\S+ (\S) \S+$/.exec(sum)?.[1] === operator ? 7 : 0;
  const properties = Object.entries(propertiesOf(tool));
  const [name, description] = [stems(tool.name), stems(tool.description)];
  const parameters = properties.flatMap(([key, value]) => stems([key, ...listOf(value?.enum)].join(" ")));
  const isNumeric = properties.some(([, value]) => value?.type === "number");

  const said = stems(text);
  const things = said.filter((word) => !isDeed(word) && !(isNumeric && /^\d/.test(word)));
  const takesSum = properties.some(([key, value]) => kindOf(key, value ?? {}) === "expression");
  const isSum = takesSum && sum !== undefined;
  const isFirst = name.includes(said[0] ?? "");
  // "Write a poem" is not about notes, but "save it" may be.
  const isAbout = (word: string) => name.includes(word) || description.includes(word);
  if (!isSum && !(things.length > 0 ? things.some(isAbout) : isFirst)) return 0;
  const hits = said.map((word) =>
    name.includes(word) ? 3 : isAbout(word) || parameters.includes(word) ? 1 : 0,
  );
  const covered = (2 * hits.filter(Boolean).length) / Math.max(1, said.length);
  const [wanted, deed] = [said.find(isDeed), [...name, ...description.slice(0, 1)].find(isDeed)];
  const fit = wanted === undefined || deed === undefined ? 0 : wanted === deed ? 2 : -6;
  return hits.reduce<number>(
    (total, hit) => total + hit,
    covered + fit + (isSum ? 5 : 0) + (isFirst ? 2 : 0),
  );
}
