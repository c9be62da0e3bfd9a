/**
 * `runTurn`, and the ways to resume a turn in another process. It is independent of looplet's engine on purpose: its
 * specification requires a machine with a host port for every effect.
 */
import { randomUuid } from "../../../extras/random-uuid.js";
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { MAX_ITERATIONS, MAX_LLM_RETRIES } from "../turn/options.js";
import { frozen } from "./context.js";
import { TurnMachine } from "./machine.js";
import type {
  ModelResponse,
  RunTurnRequest,
  RunTurnResult,
  ToolResult,
  TurnCheckpoint,
  TurnEvent,
  TurnPlan,
  TurnPorts,
} from "./types.js";

/**
 * Runs a turn on the ports of a host. It never throws for a failure of a model, a tool or a store: the result says
 * what happened, and each result has the checkpoint to resume from.
 *
 * @throws TypeError for a request without messages or ports without a model
 */
export async function runTurn(request: RunTurnRequest, ports: TurnPorts): Promise<RunTurnResult> {
  if (!Array.isArray(request?.messages) || request.messages.length === 0)
    throw new TypeError("runTurn: request.messages needs at least one message");
  checkPorts(ports);
  const state: TurnCheckpoint = {
    turnId: request.turnId ?? ports.ids?.() ?? randomUuid(),
    plan: planOf(request, ports),
    iteration: 0,
    lastSequence: 0,
    messages: request.messages,
    stablePrefixMessages: request.messages.length,
    pending: [],
    results: [],
    toolResults: [],
  };
  return new TurnMachine(state, ports, request.signal).run(async (machine) => {
    await machine.emit("turn_started", { plan: state.plan });
    const missing = request.tools?.find((name) => !state.plan.tools.includes(name));
    if (missing !== undefined) await machine.fail("configuration", `The host has no tool "${missing}".`);
  });
}

/** What another process knows of a turn. */
export interface ResumeTurn {
  readonly checkpoint: TurnCheckpoint;
  /** The events of the journal after the checkpoint, in order. May be empty. */
  readonly tail: readonly TurnEvent[];
  readonly signal?: HostAbortSignal;
}

/**
 * Resumes from a checkpoint, and repeats no committed effect. An effect that started after the checkpoint needs a
 * reconciliation: the result says so, with a checkpoint for one of the other two functions.
 *
 * @throws TypeError for a tail that does not follow the checkpoint, or a checkpoint that waits for a reconciliation
 */
export async function resumeTurn(resume: ResumeTurn, ports: TurnPorts): Promise<RunTurnResult> {
  const { checkpoint, tail } = resume;
  if (checkpoint.reconciliation !== undefined)
    throw new TypeError(
      `resumeTurn: the checkpoint waits for the reconciliation of "${checkpoint.reconciliation.requestId}": call resumeModelReconciliation or resumeToolReconciliation`,
    );
  const begun = begunIn(tail);
  const commit = tail.findIndex(({ kind }) => kind === "turn_committed");
  return machineOf(resume, ports).run(async (machine) => {
    if (commit >= 0) return machine.followCommit(String(tail[commit]!.data["output"]), tail.slice(commit));
    if (begun === undefined) return;
    const requestId = String(begun.data["requestId"]);
    const kind = begun.kind === "tool_execution_started" ? "tool" : "model";
    await machine.reconcile({ kind, requestId, message: `${begun.kind} has no end in the journal` });
  });
}

/** Resumes with the outcome of the model call: its response, or `"not_invoked"`, which calls the model again. */
export async function resumeModelReconciliation(
  resume: ResumeTurn,
  outcome: ModelResponse | "not_invoked",
  ports: TurnPorts,
): Promise<RunTurnResult> {
  expectKind(resume, "model");
  return machineOf(resume, ports).run(async (machine) => {
    machine.settle();
    if (outcome !== "not_invoked") return machine.takeResponse(outcome, true);
    await machine.emit("model_invocation_reconciled", { outcome }, {});
  });
}

/** Resumes with the outcome of the tool: its output, its error, or `"not_executed"`, which runs it again. */
export async function resumeToolReconciliation(
  resume: ResumeTurn,
  outcome: { readonly output: string } | { readonly error: string } | "not_executed",
  ports: TurnPorts,
): Promise<RunTurnResult> {
  const { requestId } = expectKind(resume, "tool", "durability");
  const { pending, results } = resume.checkpoint;
  return machineOf(resume, ports).run(async (machine) => {
    machine.settle();
    const request = pending.find(({ id }) => id === requestId);
    if (request === undefined) return machine.fail("configuration", `No call has the id "${requestId}".`);
    const { name } = request;
    const others = results.filter((result) => result.requestId !== requestId);
    const said = outcome === "not_executed" ? [] : [resultOf({ requestId, name }, outcome)];
    await machine.emit("tool_result_reconciled", { requestId, name }, { results: [...others, ...said] });
  });
}

function resultOf(
  call: Pick<ToolResult, "requestId" | "name">,
  outcome: { readonly output: string } | { readonly error: string },
): ToolResult {
  if ("output" in outcome) return { ...call, output: outcome.output };
  return { ...call, output: outcome.error, failure: "exception" };
}

function expectKind({ checkpoint }: ResumeTurn, ...kinds: string[]): { requestId: string } {
  const { reconciliation } = checkpoint;
  if (reconciliation === undefined || !kinds.includes(reconciliation.kind))
    throw new TypeError(`The checkpoint waits for no reconciliation of a ${kinds[0]}.`);
  return reconciliation;
}

function machineOf({ checkpoint, tail, signal }: ResumeTurn, ports: TurnPorts): TurnMachine {
  checkPorts(ports);
  const follows = tail.every(({ sequence }, at) => sequence === checkpoint.lastSequence + 1 + at);
  if (!follows)
    throw new TypeError(
      `The tail of the journal does not follow the checkpoint; its last event is ${checkpoint.lastSequence}.`,
    );
  const lastSequence = checkpoint.lastSequence + tail.length;
  return new TurnMachine({ ...checkpoint, lastSequence }, ports, signal);
}

const BEGINNINGS = ["tool_execution_started", "model_invocation_started"];
const ENDS = ["tool_execution_completed", "model_invocation_completed", "model_invocation_failed"];

/** The effect that the journal begins and does not end. */
function begunIn(tail: readonly TurnEvent[]): TurnEvent | undefined {
  const last = [...tail].reverse().find(({ kind }) => BEGINNINGS.includes(kind) || ENDS.includes(kind));
  return last !== undefined && BEGINNINGS.includes(last.kind) ? last : undefined;
}

function checkPorts(ports: TurnPorts): void {
  if (typeof ports?.model?.invoke !== "function")
    throw new TypeError("runTurn: ports.model.invoke needs a function");
}

/** The host's tools count, and the asset chooses among them. */
function planOf({ tools, profile = {} }: RunTurnRequest, ports: TurnPorts): TurnPlan {
  const { maxIterations = MAX_ITERATIONS, maxModelAttempts = MAX_LLM_RETRIES } = profile;
  const names = ports.tools?.names ?? [];
  const chosen = tools === undefined ? names : names.filter((name) => tools.includes(name));
  return frozen({ maxIterations, maxModelAttempts, tools: chosen });
}
