/** The machine of a turn. Live turns, resumed turns and tests run on it. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { isErrorObject } from "../../../core/kit/check.js";
import { frozen, snapshotOf } from "./context.js";
import {
  IndeterminateError,
  type ContextSnapshot,
  type ModelResponse,
  type Reconciliation,
  type RunTurnResult,
  type ToolRequest,
  type ToolResult,
  type TurnCheckpoint,
  type TurnEvent,
  type TurnEventKind,
  type TurnFailureCode,
  type TurnPorts,
} from "./types.js";

type Data = { readonly [name: string]: unknown };

/** The end of a turn, on its way out of the machine. */
class Ended {
  constructor(
    readonly result:
      | { status: "success"; output: string; postCommitErrors: readonly string[] }
      | { status: "failed"; error: { code: TurnFailureCode; message: string } }
      | { status: "cancelled"; reason: string }
      | { status: "reconciliation_required"; reconciliation: Reconciliation },
  ) {}
}

export class TurnMachine {
  #state: TurnCheckpoint;
  readonly #ports: TurnPorts;
  readonly #signal: HostAbortSignal;
  readonly #events: TurnEvent[] = [];
  readonly #snapshots: ContextSnapshot[] = [];
  /** A tool has run, and no write has recorded it yet. */
  #hasUnwrittenEffect: ToolRequest | undefined;

  constructor(
    state: TurnCheckpoint,
    ports: TurnPorts,
    signal: HostAbortSignal = new AbortController().signal,
  ) {
    this.#state = state;
    this.#ports = ports;
    this.#signal = signal;
  }

  /** Runs to the end. `begin` does what comes before the first round, such as the answer to a reconciliation. */
  async run(begin: (machine: TurnMachine) => Promise<void>): Promise<RunTurnResult> {
    try {
      await begin(this);
      for (;;) await this.#step();
    } catch (ended) {
      if (!(ended instanceof Ended)) throw ended;
      const { turnId, messages, toolResults, iteration } = this.#state;
      const { portability = "portable", delegatedState = [] } = this.#state;
      return {
        ...ended.result,
        portability,
        delegatedState,
        turnId,
        iterations: iteration,
        messages,
        toolResults,
        snapshots: this.#snapshots,
        events: this.#events,
        checkpoint: this.#state,
      };
    }
  }

  async #step(): Promise<void> {
    const { pending, pendingOutput, iteration, plan } = this.#state;
    if (pendingOutput !== undefined) return this.#commit(pendingOutput);
    if (pending.length > 0) return this.#runTools(pending);
    await this.#checkCancelled();
    if (iteration >= plan.maxIterations)
      await this.fail("max_iterations", `The turn exceeded ${plan.maxIterations} iterations.`);
    const snapshot = await this.#prepare();
    await this.takeResponse(await this.#invoke(snapshot));
  }

  async #prepare(): Promise<ContextSnapshot> {
    const { messages, stablePrefixMessages, turnId, iteration } = this.#state;
    let snapshot: ContextSnapshot;
    try {
      snapshot = await snapshotOf(
        `${turnId}-context-${iteration}`,
        messages,
        stablePrefixMessages,
        this.#state,
        this.#ports,
      );
    } catch (error) {
      return this.fail("context", messageOf(error));
    }
    this.#snapshots.push(snapshot);
    const { id, decisions } = snapshot;
    await this.emit("context_prepared", { snapshotId: id, decisions });
    return snapshot;
  }

  async #invoke(snapshot: ContextSnapshot): Promise<ModelResponse> {
    const { maxModelAttempts } = this.#state.plan;
    const requestId = this.#effectId("model");
    for (let attempt = 1; ; attempt++) {
      await this.#checkCancelled();
      await this.emit("model_invocation_started", { requestId, attempt, snapshotId: snapshot.id });
      try {
        const onToken = (token: string): void => this.#ports.onToken?.(token);
        return await this.#ports.model.invoke(snapshot, {
          requestId,
          attempt,
          signal: this.#signal,
          onToken,
        });
      } catch (error) {
        await this.#checkCancelled();
        if (error instanceof IndeterminateError) {
          await this.emit("model_reconciliation_required", { requestId });
          await this.reconcile({ kind: "model", requestId, message: error.message });
        }
        await this.emit("model_invocation_failed", { requestId, attempt, message: messageOf(error) });
        const delayMs = this.#delay(error, attempt);
        if (attempt >= maxModelAttempts || delayMs === undefined) return this.fail("model", messageOf(error));
        await this.#wait(delayMs);
      }
    }
  }

  /** Takes an answer of the model in. */
  async takeResponse(
    { output, assistant = "", tools = [], nextPortability, delegatedState }: ModelResponse,
    reconciles = false,
  ): Promise<void> {
    const kept = keptBy(nextPortability, delegatedState);
    const requestId = this.#effectId("model");
    const { messages, plan } = this.#state;
    const kind = reconciles ? "model_invocation_reconciled" : "model_invocation_completed";
    if (tools.length === 0) {
      const { iteration } = this.#state;
      const change = { ...kept, pendingOutput: output ?? "", iteration: iteration + 1 };
      return this.emit(kind, { requestId }, change);
    }
    const unknown = tools.find(({ name }) => !plan.tools.includes(name));
    if (unknown !== undefined) await this.fail("configuration", `There is no tool "${unknown.name}".`);
    // A reconciliation, and a host that stores what it has done, identify a call by its id.
    if (new Set(tools.map(({ id }) => id)).size < tools.length)
      await this.fail("model", "Two calls of an answer have the same id.");
    const answer = { role: "assistant" as const, content: assistant, toolRequests: tools };
    const change = { ...kept, pending: tools, results: [], messages: [...messages, answer] };
    await this.emit(kind, { requestId }, change);
  }

  async #runTools(pending: readonly ToolRequest[]): Promise<void> {
    for (const request of pending.slice(this.#state.results.length)) {
      await this.#checkCancelled();
      await this.#runTool(request);
    }
    const { results, messages, toolResults, iteration } = this.#state;
    for (const { requestId, name, failure } of results) {
      await this.emit("tool_result_committed", { requestId, name, ...(failure && { failure }) });
    }
    const told = results.map(({ requestId, output }) => ({
      role: "tool" as const,
      content: output,
      toolRequestId: requestId,
    }));
    const next = {
      pending: [],
      results: [],
      messages: [...messages, ...told],
      toolResults: [...toolResults, ...results],
      iteration: iteration + 1,
    };
    await this.emit("conversation_updated", { added: told.length }, next);
  }

  async #runTool(request: ToolRequest): Promise<void> {
    const { id: requestId, name } = request;
    // The host of another process may have other tools than the one that made the plan.
    if (this.#ports.tools?.names.includes(name) !== true)
      await this.fail("configuration", `The host has no tool "${name}".`);
    const context = { requestId, signal: this.#signal };
    await this.emit("permission_requested", { requestId, name });
    const { isAllowed, reason = "The call was denied." } = await this.#permission(request, context);
    await this.emit("permission_resolved", { requestId, name, isAllowed });
    if (!isAllowed)
      return this.#set({
        results: [...this.#state.results, { requestId, name, output: reason, failure: "permission_denied" }],
      });
    await this.emit("tool_execution_started", { requestId, name });
    let result: ToolResult;
    try {
      const value: unknown = await this.#ports.tools!.execute(request, context);
      // A returned error counts as thrown, as in `turn`.
      if (isErrorObject(value)) throw value;
      result = { requestId, name, output: (value ?? "") as string };
    } catch (error) {
      if (error instanceof IndeterminateError)
        return this.reconcile({ kind: "tool", requestId, message: error.message });
      result = { requestId, name, output: messageOf(error), failure: "exception" };
    }
    this.#hasUnwrittenEffect = request;
    const { failure } = result;
    const results = [...this.#state.results, result];
    await this.emit(
      "tool_execution_completed",
      { requestId, name, ...(failure && { failure }) },
      { results },
    );
    this.#hasUnwrittenEffect = undefined;
  }

  async #commit(written: string): Promise<never> {
    const judged = await this.#judged(written);
    if (judged !== undefined) await this.emit("policy_applied", { isAllowed: judged.isAllowed });
    if (judged?.isAllowed === false)
      await this.fail("policy_rejected", judged.reason ?? "The output was rejected.");
    const output = judged?.output ?? written;
    await this.emit("turn_committed", { output });
    return this.followCommit(output);
  }

  /** The effects after a commit. Those in the journal, `past`, are not repeated. */
  async followCommit(output: string, past: readonly TurnEvent[] = []): Promise<never> {
    const ends = past.filter(({ kind }) => kind === "post_commit_completed" || kind === "post_commit_failed");
    const postCommitErrors = ends.flatMap(({ data }) => ("message" in data ? [String(data["message"])] : []));
    const begun = past.filter(({ kind }) => kind === "post_commit_started").length;
    if (begun > ends.length) {
      const message = "The effect has no end in the journal.";
      postCommitErrors.push(message);
      await this.#tellAfterCommit("post_commit_failed", { message });
    }
    for (const effect of (this.#ports.postCommit ?? []).slice(begun)) {
      await this.#tellAfterCommit("post_commit_started", {});
      try {
        await effect({ output });
        await this.#tellAfterCommit("post_commit_completed", {});
      } catch (error) {
        postCommitErrors.push(messageOf(error));
        await this.#tellAfterCommit("post_commit_failed", { message: messageOf(error) });
      }
    }
    throw new Ended({ status: "success", output, postCommitErrors });
  }

  /** The decision of the host. Without its port every call may run; a port that fails has allowed nothing. */
  async #permission(
    request: ToolRequest,
    context: { requestId: string; signal: HostAbortSignal },
  ): Promise<{ isAllowed: boolean; reason?: string }> {
    if (this.#ports.permission === undefined) return { isAllowed: true };
    try {
      const decision = await this.#ports.permission(request, context);
      return { ...decision, isAllowed: decision.isAllowed === true };
    } catch (error) {
      return { isAllowed: false, reason: `The call was denied: ${messageOf(error)}` };
    }
  }

  /** The judgement of the output. A policy that fails, or gives no clear yes, has not allowed it. */
  async #judged(
    written: string,
  ): Promise<{ isAllowed: boolean; output?: string; reason?: string } | undefined> {
    const { policy } = this.#ports;
    if (policy === undefined) return undefined;
    try {
      const judged = await policy.beforeCommit(written);
      return { ...judged, isAllowed: judged?.isAllowed === true };
    } catch (error) {
      return { isAllowed: false, reason: messageOf(error) };
    }
  }

  /** The wait before another attempt; `undefined` if there is no other attempt, or if the policy fails. */
  #delay(error: unknown, attempt: number): number | undefined {
    try {
      return this.#ports.retry === undefined ? 0 : this.#ports.retry(error, attempt);
    } catch {
      return undefined;
    }
  }

  /** A write that fails after the commit changes nothing. */
  async #tellAfterCommit(kind: TurnEventKind, data: Data): Promise<void> {
    const event = this.#eventOf(kind, data);
    await this.#ports.durability?.commit({ events: [event] }).catch(() => {});
    this.#tell(event);
  }

  async #checkCancelled(): Promise<void> {
    if (!this.#signal.aborted) return;
    const reason = messageOf(this.#signal.reason);
    await this.emit("turn_cancelled", { reason });
    throw new Ended({ status: "cancelled", reason });
  }

  async #wait(delayMs: number): Promise<void> {
    const { clock } = this.#ports;
    if (clock !== undefined) return clock.wait(delayMs, this.#signal).catch(() => {});
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  }

  async fail(code: TurnFailureCode, message: string): Promise<never> {
    await this.emit("turn_failed", { code, message });
    throw new Ended({ status: "failed", error: { code, message } });
  }

  /** Ends the turn until the outcome of an effect is supplied. */
  async reconcile(reconciliation: Reconciliation): Promise<never> {
    await this.emit("turn_reconciliation_required", { ...reconciliation }, { reconciliation });
    throw new Ended({ status: "reconciliation_required", reconciliation });
  }

  /** Emits an event after it is stored. With `change`, also stores a checkpoint with that change. */
  async emit(kind: TurnEventKind, data: Data, change?: Partial<TurnCheckpoint>): Promise<void> {
    const before = this.#state;
    const events = [this.#eventOf(kind, data)];
    if (change !== undefined) {
      events.push(this.#eventOf("checkpoint_created", { lastSequence: this.#state.lastSequence + 1 }));
      this.#set(change);
    }
    try {
      const write = { events, ...(change && { checkpoint: frozen(this.#state) }) };
      await this.#ports.durability?.commit(write);
    } catch (error) {
      this.#set({ lastSequence: before.lastSequence });
      this.#notWritten(messageOf(error));
    }
    events.forEach((event) => this.#tell(event));
  }

  /** A failed write after a tool has run needs a reconciliation, because the store may have it. Any other fails the turn. */
  #notWritten(message: string): never {
    const effect = this.#hasUnwrittenEffect;
    if (effect === undefined) throw new Ended({ status: "failed", error: { code: "durability", message } });
    const reconciliation = { kind: "durability" as const, requestId: effect.id, message };
    this.#set({ reconciliation });
    throw new Ended({ status: "reconciliation_required", reconciliation });
  }

  #eventOf(kind: TurnEventKind, data: Data): TurnEvent {
    const { turnId, iteration, lastSequence } = this.#state;
    const sequence = lastSequence + 1;
    this.#set({ lastSequence: sequence });
    const at = this.#ports.clock?.now() ?? Date.now();
    return { sequence, kind, turnId, iteration, at, data };
  }

  #tell(event: TurnEvent): void {
    this.#events.push(event);
    try {
      this.#ports.onEvent?.(event);
    } catch {
      // A listener cannot end the turn.
    }
  }

  #effectId(what: string): string {
    return `${this.#state.turnId}-${what}-${this.#state.iteration}`;
  }

  #set(change: Partial<TurnCheckpoint>): void {
    this.#state = { ...this.#state, ...change };
  }

  /** The reconciliation that was waited for is answered. */
  settle(): void {
    const { reconciliation: _, ...state } = this.#state;
    this.#state = state;
  }
}

/** What an answer says about the state that the model's host stores. If it says nothing, the state is unchanged. */
function keptBy(
  next: ModelResponse["nextPortability"],
  delegatedState: ModelResponse["delegatedState"],
): Partial<TurnCheckpoint> {
  const portability = next ?? (delegatedState === undefined ? undefined : "delegated");
  if (portability === undefined) return {};
  return { portability, delegatedState: delegatedState ?? [] };
}

export function messageOf(error: unknown): string {
  return isErrorObject(error) ? error.message || error.name : String(error);
}
