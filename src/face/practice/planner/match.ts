/**
 * Scores how well a tool fits a piece of a prompt: words shared with its name, its description and its parameters, and
 * concepts (arithmetic, weather, time, search, notes, documents) that many wordings share.
 */
import type { ToolSpec } from "../conversation.js";
import { isObject } from "../json.js";
import { findArithmetic } from "./arithmetic.js";
import { splitName, stems } from "./words.js";

/** Scores below this are no match. */
export const MIN_SCORE = 3;

/** A tool with what is compared of it. */
export interface Candidate {
  tool: ToolSpec;
  nameStems: Set<string>;
  descriptionStems: Set<string>;
  parameterStems: Set<string>;
  concepts: Set<string>;
  action: string | undefined;
}

/** Prepares a tool for comparison. */
export function candidateOf(tool: ToolSpec): Candidate {
  const name = splitName(tool.name);
  const properties = isObject(tool.schema["properties"]) ? tool.schema["properties"] : {};
  const parameters = Object.entries(properties).map(
    ([key, schema]: [string, any]) => `${splitName(key)} ${(schema?.enum ?? []).join(" ")}`,
  );
  return {
    tool,
    nameStems: stems(name),
    descriptionStems: stems(tool.description),
    parameterStems: stems(parameters.join(" ")),
    concepts: new Set(
      CONCEPTS.filter(({ tool: pattern }) => pattern.test(`${name} ${firstSentence(tool.description)}`)).map(
        ({ name }) => name,
      ),
    ),
    action: actionOf(name) ?? actionOf(firstSentence(tool.description).split(" ").slice(0, 2).join(" ")),
  };
}

/** The best tool for `text` and its score; `undefined` when none reaches `MIN_SCORE`. */
export function bestMatch(
  candidates: readonly Candidate[],
  text: string,
): { tool: ToolSpec; score: number } | undefined {
  let best: { tool: ToolSpec; score: number } | undefined;
  for (const candidate of candidates) {
    const score = scoreOf(candidate, text);
    if (score >= MIN_SCORE && score > (best?.score ?? 0)) best = { tool: candidate.tool, score };
  }
  return best;
}

/** How well `candidate` fits `text`; higher is better. */
export function scoreOf(candidate: Candidate, text: string): number {
  if (
    new RegExp(`(?<![\\w-])${escape(candidate.tool.name)}(?![\\w-])`).test(text) &&
    /[_-]|[a-z][A-Z]/.test(candidate.tool.name)
  ) {
    return 20;
  }
  const words = stems(text);
  let score = 0;
  let isNamed = false;
  for (const word of words) {
    if (candidate.nameStems.has(word)) {
      score += 3;
      isNamed = true;
    } else if (candidate.descriptionStems.has(word)) score += 1;
    if (candidate.parameterStems.has(word)) score += 1;
  }
  for (const concept of CONCEPTS) {
    if (candidate.concepts.has(concept.name) && concept.prompt(text)) {
      score += concept.weight + (concept.lead?.test(text) ? LEAD_WEIGHT : 0);
      isNamed = true;
    }
  }
  score += operationScore(candidate, text);
  const action = actionOf(text);
  if (action !== undefined && candidate.action !== undefined && isNamed) {
    score += action === candidate.action ? 2 : isChange(action) || isChange(candidate.action) ? -8 : -2;
  }
  // "My notes" asks to see them, not to write one.
  if (action === undefined && isNamed && candidate.action === "read" && /\b(?:my|the|all)\b/i.test(text))
    score += 1;
  return score;
}

interface Concept {
  name: string;
  /** What a tool's name or first sentence says when it is about this. */
  tool: RegExp;
  prompt: (text: string) => boolean;
  weight: number;
  /** A beginning that settles it: "remember that the weather …" is about remembering. */
  lead?: RegExp;
}

const LEAD_WEIGHT = 6;

const says = (pattern: RegExp) => (text: string) => pattern.test(text);

const CONCEPTS: readonly Concept[] = [
  {
    name: "arithmetic",
    tool: /\b(?:calc\w*|arithmetic\w*|math\w*|expressions?|comput\w*|evaluat\w*)\b/i,
    prompt: (text) => findArithmetic(text).length > 0,
    weight: 5,
  },
  {
    name: "weather",
    tool: /\b(?:weather|forecasts?|temperatures?)\b/i,
    prompt: says(
      /\b(?:weather|forecast|umbrella|coat|jacket|rain(?:s|y|ing)?|sunny|snow(?:s|y|ing)?|windy|temperature|warm|cold|hot outside|degrees)\b/i,
    ),
    weight: 5,
  },
  {
    name: "time",
    tool: /\b(?:time|times|clock|now|date|datetime|today)\b/i,
    prompt: says(
      /\b(?:what(?:'s| is)? (?:the )?(?:current |local )?(?:time|date|day)|time is it|time in|current (?:time|date)|today'?s date|what day|which day|date today|clock)\b/i,
    ),
    weight: 5,
  },
  {
    name: "search",
    tool: /\b(?:search\w*|lookup|look up|web|google|wiki\w*|query|find)\b/i,
    prompt: says(
      /\b(?:search\w*|look up|look for|google|find (?:out|me|information|something)|articles? (?:on|about)|who (?:is|was)|information (?:on|about))\b/i,
    ),
    weight: 4,
    lead: /^(?:please |and |also |can you |could you )*(?:search|look up|look for|google)\b/i,
  },
  {
    name: "notes",
    tool: /\b(?:notes?|memos?|memory|memories|todos?|reminders?|remember)\b/i,
    prompt: says(
      /\b(?:notes?|remember|remind me|write (?:it |this |that )?down|jot|memo|to-?do|save (?:it|this|that|the (?:result|answer)))\b/i,
    ),
    weight: 4,
    lead: /^(?:please |and |also |can you |could you )*(?:remember|remind me|note|jot|memo|write (?:it |this |that )?down|(?:add|save|create|make|take|write|list|show)(?: (?:a|an|the|my|all|me|new|it|this|that))* ?(?:notes?|reminders?|todos?|to-dos?|as a note|to my notes))\b/i,
  },
  {
    name: "documents",
    tool: /\b(?:documents?|files?|read|docs?|page|fetch|open)\b/i,
    prompt: says(
      /\b(?:documents?|files?|readme|docs)\b|\b[\w-]+\.(?:md|txt|json|csv|html|pdf|ya?ml)\b|\bhttps?:\/\//i,
    ),
    weight: 4,
  },
];

const OPERATIONS: readonly [RegExp, string][] = [
  [/\b(?:add|adds|addition|sum|plus)\b/i, "+"],
  [/\b(?:subtract\w*|minus|difference)\b/i, "-"],
  [/\b(?:multipl\w*|product|times|mul)\b/i, "*"],
  [/\b(?:divid\w*|division|quotient|div)\b/i, "/"],
  [/\b(?:power|pow|exponent\w*)\b/i, "^"],
];

/** The operator that a tool such as `add(a, b)` performs, when it takes exactly numbers. */
export function operationOf(tool: ToolSpec): string | undefined {
  const properties: any[] = Object.values(tool.schema["properties"] ?? {});
  const areNumbers =
    properties.length === 2 && properties.every(({ type }) => type === "number" || type === "integer");
  if (!areNumbers) return undefined;
  const name = splitName(tool.name);
  return (OPERATIONS.find(([pattern]) => pattern.test(name)) ??
    OPERATIONS.find(([pattern]) => pattern.test(firstSentence(tool.description))))?.[1];
}

function operationScore({ tool }: Candidate, text: string): number {
  const operator = operationOf(tool);
  if (operator === undefined) return 0;
  const [first] = findArithmetic(text);
  if (first?.binary?.operator === operator) return 7;
  // "Then multiply it by 3" has only the second operand.
  const wanted = OPERATIONS.find(([pattern]) => pattern.test(text))?.[1];
  return wanted === operator && /\d/.test(text) ? 4 : first ? -3 : 0;
}

const ACTIONS: readonly [string, RegExp][] = [
  ["delete", /\b(?:delete|remove|forget|clear|erase|drop|cancel)\b/i],
  ["update", /\b(?:update|change|rename|edit|modify|replace)\b/i],
  [
    "read",
    /\b(?:list|lists|show|display|what|which|read|reads|see|all|get|gets|look|find|search|fetch|how many)\b/i,
  ],
  [
    "add",
    /\b(?:add|adds|save|saves|saving|create|creates|remember|remind|write|writes|jot|store|stores|put|append|insert|send|make|take (?:a|down)|note (?:that|down|to|:))/i,
  ],
];

function actionOf(text: string): string | undefined {
  let first: { at: number; action: string } | undefined;
  for (const [action, pattern] of ACTIONS) {
    const at = text.search(pattern);
    if (at >= 0 && (first === undefined || at < first.at)) first = { at, action };
  }
  return first?.action;
}

// Deleting and changing are never a near miss for anything else.
function isChange(action: string): boolean {
  return action === "delete" || action === "update";
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.!?])\s/, 1)[0] ?? "";
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
