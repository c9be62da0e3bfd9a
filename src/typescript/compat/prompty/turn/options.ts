/** The options of a turn, and what its parts know of it. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import type { ToolFunction } from "../registry.js";
import type { Span } from "../tracer.js";
import type { Message, Prompty, PromptyHost, PromptInputs, PromptyTool } from "../types.js";
import type { Around, OnTurnEvent, Steering } from "./events.js";
import type { Guardrails } from "./guardrails.js";

/** Model calls of a turn without `maxIterations`. */
export const MAX_ITERATIONS = 10;
/** Attempts of each model call of a turn without `maxLlmRetries`, the first among them. */
export const MAX_LLM_RETRIES = 3;

export interface TurnOptions {
  host?: PromptyHost | undefined;
  /** Model calls of the turn, a positive integer. Default {@link MAX_ITERATIONS}. */
  maxIterations?: number | undefined;
  /** Attempts of each model call, the first among them. Default {@link MAX_LLM_RETRIES}. */
  maxLlmRetries?: number | undefined;
  onEvent?: OnTurnEvent | undefined;
  signal?: HostAbortSignal | undefined;
  /** Characters of a conversation before a summary takes the place of its oldest messages. Default: no bound. */
  contextBudget?: number | undefined;
  /** Contract: summarises the messages that the budget drops. An empty text and an error mean the summary of looplet. */
  compaction?: ((messages: readonly Message[]) => string | Promise<string>) | undefined;
  guardrails?: Guardrails | undefined;
  steering?: Steering | undefined;
  /** Whether the calls of one answer run at the same time. Default false. */
  parallelToolCalls?: boolean | undefined;
  /** Whether to return the provider's last answer as it is. Default false. */
  raw?: boolean | undefined;
  /** The number of the turn, for the name of its span. */
  turn?: number | undefined;
  /** Whether to return a `PromptyStream` of the last answer's text. Default false. */
  stream?: boolean | undefined;
  /** @internal The span of a tool that this turn runs in. */
  span?: Span | undefined;
  /** @internal The files that lead to this turn. */
  within?: readonly string[] | undefined;
}

/** The functions of tools, as a function or with a definition for the model. */
export type TurnTools = {
  [name: string]: ToolFunction | (Partial<PromptyTool> & { execute: ToolFunction });
};

/** A turn as its parts know it. */
export interface TurnContext {
  /** With the tools of this turn. */
  agent: Prompty;
  inputs: PromptInputs;
  options: TurnOptions;
  host: PromptyHost;
  /** The functions of this turn. They win over registered ones. */
  functions: ReadonlyMap<string, ToolFunction>;
  /** Runs tools of kind `prompty`. */
  runPrompty: (tool: PromptyTool, args: PromptInputs, span: Span) => Promise<unknown>;
  tell: OnTurnEvent;
  around: Around;
}
