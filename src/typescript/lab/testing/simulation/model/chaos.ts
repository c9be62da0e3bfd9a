/**
 * The models of simulated runs. Each makes the turn that answers a request; `answers.ts` sends it in the protocol of
 * the request. They know nothing but the request and the choices of the run, so that a run is a function of its
 * choices.
 */
import type { Conversation, ToolSpec } from "../../../practice/conversation.js";
import { checkOptions } from "../../../../core/kit/check.js";
import { LoopletError } from "../../../../core/api/errors.js";
import { fillInput, fillValue } from "../../../practice/planner/fill.js";
import { seededRandom, type Random } from "../../../practice/random.js";
import type { ReceivedRequest, ScriptedTurn } from "../../../practice/types.js";

/** A request that a model of the world answers. @beta */
export interface AskedTurn {
  readonly request: ReceivedRequest;
  /** The request in neutral form: the messages, the tools, the schema of the answer. */
  readonly conversation: Conversation;
  /** The agent in the run's tree and its iteration. A second attempt, in any process, has the same. */
  readonly agentPath: string;
  readonly iteration: number;
  /** 1 with the first chance, 2 with the second and so on; 0 with what is left of 1. It is part of the run's choices. */
  readonly pick: (place: string, chances: readonly number[]) => number;
  /** A whole number from 0 to `below`, which is left out. It is part of the run's choices. */
  readonly number: (place: string, below: number) => number;
}

/** Contract: returns the turn that answers a request. Equal requests and equal choices have equal turns. @beta */
export type WorldModel = (asked: AskedTurn) => ScriptedTurn;

/** The options of {@link chaos}. @beta */
export interface ChaosOptions {
  /** The chance that an answer calls tools. Default 0.6. */
  calls?: number | undefined;
  /** The chance that an answer is one of those that no model should give. Default 0.08. */
  illegal?: number | undefined;
  /** The rounds of calls after which the model only answers. Default 8. */
  maxRounds?: number | undefined;
}

/**
 * A model that does anything: it calls tools with inputs that match their schemas, several at the same time, and
 * repeats calls. Sometimes an answer is invalid: an unknown tool, arguments that are not valid JSON or do not match
 * the schema, an empty answer, one that is cut off by its length. Without choices it answers `"Done."`.
 *
 * @beta
 *
 * @throws LoopletError `config_…`
 */
export function chaos(given: ChaosOptions = {}): WorldModel {
  const {
    calls = 0.6,
    illegal = 0.08,
    maxRounds = 8,
  } = checkOptions(given, "", {
    calls: "number",
    illegal: "number",
    maxRounds: "count",
  });
  if (!(calls >= 0 && illegal >= 0 && calls + illegal <= 0.9))
    throw new LoopletError("config_invalid_value", "calls", "and illegal need to be 0.9 or less together");
  const answered: WorldModel = (asked) => {
    const { tools, choice, said } = asked.conversation;
    const rounds = said.filter((one) => one.role === "assistant" && one.calls.length > 0).length;
    const able =
      choice.type === "none" ? [] : tools.filter(({ name }) => [undefined, name].includes(choice.name));
    const isForced = able.length > 0 && choice.type !== "auto";
    const mayCall = able.length > 0 && (rounds < maxRounds || isForced) ? 1 : 0;
    const bad = illegal / 5;
    const kind = asked.pick("the answer", [
      mayCall * calls * 0.65,
      mayCall * calls * (asked.conversation.isParallel ? 0.22 : 0),
      mayCall * calls * 0.13,
      mayCall * bad,
      mayCall * bad,
      mayCall * bad,
      bad,
      bad,
      0.01,
      0.04,
    ]);
    const one = (): { name: string; input: Record<string, unknown> } => {
      const number = asked.number("the call", able.length * INPUTS);
      const tool = able[number % able.length]!;
      return { name: tool.name, input: inputOf(tool, Math.floor(number / able.length)) };
    };
    switch (KINDS[kind]) {
      case "call":
        return { toolCalls: [one()] };
      case "two calls":
        return { text: "Two things.", toolCalls: [one(), one()] };
      case "again": {
        const last = said.flatMap((one) => (one.role === "assistant" ? one.calls : [])).at(-1);
        return { toolCalls: [last === undefined ? one() : { name: last.name, input: last.input ?? {} }] };
      }
      case "unknown tool":
        return { toolCalls: [{ name: "no_such_tool", input: {} }] };
      case "broken arguments":
        return { toolCalls: [{ name: one().name, argumentsText: '{"broken": ' }] };
      case "misfit":
        return { toolCalls: [{ name: one().name, input: { unexpected: [null] } }] };
      case "empty":
        return { text: "" };
      case "cut off":
        return { text: "It ends in the mid", stopReason: "length" };
      case "refusal":
        return { blocks: [{ type: "refusal", text: "I cannot help with that." }], stopReason: "refusal" };
      case "thinking":
        return { thinking: { text: "Let me see." }, text: textOf(asked) };
      default:
        return isForced ? { toolCalls: [one()] } : { text: textOf(asked) };
    }
  };
  return (asked) => {
    const turn = answered(asked);
    const { thinking } = asked.conversation;
    // A vendor that was asked to think does so before it calls a tool, and refuses a history in which it has not.
    const isThought = turn.toolCalls !== undefined && (thinking === "shown" || thinking === "omitted");
    return isThought ? { thinking: { text: thinking === "shown" ? "Let me see." : "" }, ...turn } : turn;
  };
}

/** In the order of the chances; 0 is the quiet answer. */
const KINDS = [
  undefined,
  "call",
  "two calls",
  "again",
  "unknown tool",
  "broken arguments",
  "misfit",
  "empty",
  "cut off",
  "refusal",
  "thinking",
] as const;

/** The number of inputs that `chaos` knows for a tool. */
const INPUTS = 1000;

function textOf({ conversation: { outputSchema }, number }: AskedTurn): string {
  if (outputSchema === undefined) return "Done.";
  const tool = { name: "answer", description: "", schema: outputSchema };
  return JSON.stringify(fillValue(tool, { text: sentence(tool, number("the input", INPUTS)) }));
}

function inputOf(tool: ToolSpec, number: number): Record<string, unknown> {
  return fillInput(tool, { text: sentence(tool, number) });
}

const WORDS = [
  "blue",
  "north",
  "winter",
  "ann@example.com",
  "order",
  "Paris",
  "2026-03-01",
  "a.txt",
  "refund",
  "é🙂",
];
const NUMBERS = [1, 2, 3, 0, 7, 10, 42, 100, 1500, 0.5, -1, 1_000_000];

/** A sentence out of which an input is filled: it has words, numbers, and some names and choices of the schema. */
function sentence({ schema }: ToolSpec, number: number): string {
  if (number === 0) return "1";
  const random = seededRandom(`input ${number}`);
  const some = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const words = [some(WORDS), some(WORDS), `${some(NUMBERS)}`, `${some(NUMBERS)}`];
  for (const [name, property] of Object.entries(Object(schema["properties"]) as Record<string, any>))
    words.push(...wordsOf(name, property, random));
  return words.join(" ");
}

function wordsOf(name: string, property: any, random: Random): string[] {
  const choices: unknown = property?.enum;
  const said = Array.isArray(choices) ? [String(choices[Math.floor(random() * choices.length)])] : [];
  return random() < 0.4 ? [name, ...said] : said;
}

/** A model that answers with these turns, as {@link WorldOptions.model} says. */
export function scriptOf(turns: readonly ScriptedTurn[]): WorldModel {
  const places = new Map<string, number>();
  return ({ agentPath, iteration }) => {
    const place = `${agentPath} ${iteration}`;
    if (!places.has(place)) places.set(place, places.size);
    return turns[Math.min(places.get(place)!, turns.length - 1)]!;
  };
}
