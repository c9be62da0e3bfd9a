/** `looplet/prompty`: `.prompty` files, and the agent loop of Prompty's specification on looplet's engine. */
export type { Answer } from "./model/answer.js";
export { bindTools } from "./bind-tools.js";
export {
  getExecutor,
  getParser,
  getProcessor,
  getRenderer,
  registerExecutor,
  registerParser,
  registerProcessor,
  registerRenderer,
  type Executor,
  type Parser,
  type Processor,
  type Renderer,
} from "./components.js";
export type { ExecutorOptions } from "./model/engine-executor.js";
export * from "./errors.js";
export { executeLlm, invoke, process, run, type InvokeOptions } from "./invoke.js";
export { Steering, type OnTurnEvent, type TurnEvents } from "./turn/events.js";
export { load, loadPrompty } from "./file/load.js";
export { expandNonces, type Nonces } from "./template/nonces.js";
export { parse, prepare, render, renderSegments, validateInputs } from "./template/prepare.js";
export {
  cast,
  extractTextContent,
  StructuredResultSymbol,
  type Processed,
  type StructuredResult,
} from "./model/process.js";
export {
  clearConnections,
  clearToolHandlers,
  clearTools,
  getConnection,
  getTool,
  getToolHandler,
  registerConnection,
  registerTool,
  registerToolHandler,
  type ToolFunction,
  type ToolHandler,
} from "./registry.js";
export type { Segment } from "./template/segments.js";
export { processStream, PromptyStream, RefusalError, type StreamChunk } from "./model/stream.js";
export {
  anthropicToolMessages,
  chatToolMessages,
  responsesToolMessages,
  type FormatToolMessages,
} from "./model/tool-messages.js";
export { tracers, type SpanSink, type Tracer } from "./tracer.js";
export type * from "./types.js";
export type { Guardrails, ToolGuardrail, Verdict } from "./turn/guardrails.js";
export { extractFirstJsonBlock, resilientJsonParse, type JsonParseOptions } from "./turn/arguments.js";
export { applyBindings, findToolDefinition } from "./turn/bindings.js";
export { MAX_ITERATIONS, MAX_LLM_RETRIES, type TurnOptions, type TurnTools } from "./turn/options.js";
export { executePromptyTool, turn, turnAsync, type PromptyToolOptions } from "./turn/turn.js";
export { toRequest } from "./model/wire.js";
export {
  resumeModelReconciliation,
  resumeToolReconciliation,
  resumeTurn,
  runTurn,
  type ResumeTurn,
} from "./run-turn/run-turn.js";
export { replayJournal } from "./run-turn/replay-journal.js";
export { IndeterminateError } from "./run-turn/types.js";
export type {
  ContextCandidate,
  ContextDecision,
  ContextSnapshot,
  DelegatedState,
  ModelResponse,
  Portability,
  Reconciliation,
  RunTurnRequest,
  RunTurnResult,
  ToolRequest,
  ToolResult,
  TurnCheckpoint,
  TurnEvent,
  TurnEventKind,
  TurnFailureCode,
  TurnMessage,
  TurnPlan,
  TurnPorts,
} from "./run-turn/types.js";
export { init, type WasmSource } from "../../core/kit/engine.js";
