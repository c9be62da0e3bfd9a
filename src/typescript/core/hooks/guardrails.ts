/** Turns your guardrails into functions that the engine asks. It decides nothing. */
import type { GuardrailResult, HookOptions } from "../api/hook.js";
import type { Point } from "../generated/model.js";
import type { HookAnswer } from "../host/question.js";
import { at, checkOptions, checkValue, describe, isObject } from "../options/check.js";
import { withTextBlocks } from "../options/messages.js";
import type { OptionTable } from "../option-table.js";
import type { HostFunction } from "./host-functions.js";

const GUARDRAILS_TABLE: OptionTable = {
  input: "any",
  each: ["prompt", "request"],
  output: "any",
  tool: "any",
  timeoutMs: "count64?",
};
const RESULT_TABLE: OptionTable = { allowed: "boolean!", reason: "string", rewrite: "any" };

type Check = (...of: unknown[]) => unknown;
type Kind = {
  readonly event: Point;
  /** The arguments of your function before the context. */
  readonly of: (input: any) => unknown[];
  /** The field of the answer in which the engine reads the rewrite. */
  readonly into: "messages" | "updatedOutput" | "updatedInput";
};

const KINDS: { readonly [name: string]: Kind } = {
  input: { event: "InputGuardrail", of: ({ messages }) => [messages], into: "messages" },
  output: { event: "OutputGuardrail", of: ({ message }) => [message], into: "updatedOutput" },
  tool: {
    event: "ToolGuardrail",
    of: ({ toolName, input }) => [toolName, input],
    into: "updatedInput",
  },
};

/** The engine names the occasion of an input guardrail `prompt` or `request`. */
const ONCE = { names: ["prompt"] };

/** @throws LoopletError `config_…` */
export function guardrailFunctions({ guardrails }: HookOptions): HostFunction[] {
  if (guardrails === undefined) return [];
  const functions: HostFunction[] = [];
  const own = checkOptions(guardrails, "guardrails", GUARDRAILS_TABLE);
  const { timeoutMs = 600_000, each = "prompt", ...kinds } = own;
  for (const [name, given] of Object.entries(kinds) as [string, Check | Check[] | undefined][]) {
    if (given === undefined) continue;
    const { event, of, into } = KINDS[name]!;
    for (const [index, check] of [given].flat().entries()) {
      const field = at("guardrails", name);
      checkValue(check, Array.isArray(given) ? `${field}[${index}]` : field, "function");
      functions.push({
        config: { event, timeoutMs, blocks: true, ...(name === "input" && each === "prompt" ? ONCE : {}) },
        ask: async (input, { signal }) => {
          const { agentPath, iteration, toolCallId } = input;
          const context = {
            signal,
            agentPath,
            iteration,
            ...(toolCallId === undefined ? {} : { toolCallId }),
          };
          return answerOf(await check(...of(input), context), into);
        },
      });
    }
  }
  return functions;
}

function answerOf(result: unknown, into: Kind["into"]): HookAnswer {
  if (!isObject(result)) throw new TypeError(`the guardrail returned ${describe(result)}, not { allowed }`);
  const checked: unknown = checkOptions(result, "", RESULT_TABLE);
  const { allowed, reason, rewrite } = checked as GuardrailResult<any>;
  if (!allowed) return { decision: "deny", reason: reason ?? "no reason given" };
  if (rewrite === undefined || rewrite === null) return {};
  checkValue(
    rewrite,
    "rewrite",
    into === "updatedOutput" ? "string" : into === "messages" ? "any" : "object",
  );
  return { [into]: into === "messages" ? withTextBlocks(rewrite) : rewrite };
}
