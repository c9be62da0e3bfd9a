/**
 * Runs the tools of one run: prepares inputs, calls `execute`, hands the results back. An aborted call is forgotten
 * at once: nothing that its tool does afterwards has an effect.
 */
import { describe, describeReturned } from "../options/check.js";
import { Elicitations } from "./elicitations.js";
import type { AskedError, PreparedCall, ToolInvocation, ToolReturn } from "../host/question.js";
import type { Driver } from "../host/engine.js";
import { jsonOf } from "./tool-json.js";
import { faultOf, returned } from "./tool-result.js";
import { issuesInWords } from "./tool-schema.js";
import { handlerOf, type KnownTool, type ToolSet } from "./tool.js";
import type {
  AgentOptions,
  ElicitationAnswer,
  ToolCallOptions,
  ToolContext,
  ToolFault,
  ToolHandlerContext,
} from "../api/index.js";
import { message } from "../options/thrown.js";

/** The options of an agent that its calls need. */
export type ToolRunOptions = ToolCallOptions & Pick<AgentOptions, "inputs" | "steps">;

/** Whether a call may begin: `unknown` if the store cannot be asked. */
export type Permit = "granted" | "lost" | "unknown";

/** The run of the calls. */
export interface CallLife {
  /** Receives the errors that tools throw; must not throw. */
  readonly onThrow: (toolCallId: string, thrown: unknown) => void;
  /** Resolves when the store has everything so far. */
  readonly saved: () => Promise<void>;
  /** Whether this process may begin a call. */
  readonly permit: () => Permit | Promise<Permit>;
  /** The fence of the run's lease. */
  readonly fence: () => number | undefined;
}

/** A run without a store. */
const ALONE: CallLife = {
  onThrow: () => {},
  saved: () => Promise.resolve(),
  permit: () => "granted",
  fence: () => undefined,
};

export class ToolCalls {
  #tools: readonly ToolSet[];
  readonly #driver: () => Driver | undefined;
  readonly #report: (error: unknown) => void;
  #life = ALONE;
  readonly #running = new Map<number, Abort>();
  readonly #elicitations: Elicitations;
  /** The last checkpoints of running calls: the state's JSON, and the number of questions before it. */
  readonly #checkpoints = new Map<number, readonly [stateJson: string | undefined, asked: number]>();
  /** The results that no instance has taken. */
  readonly #finished = new Map<number, ToolReturn>();
  /**
   * Validated inputs, by the call's tool and the provider's id. They are kept because a transform may have made a
   * value that JSON cannot hold. The id is not enough, because some providers use an id twice.
   */
  readonly #prepared = new Map<string, Prepared>();

  #options: ToolRunOptions;

  /**
   * `tools` are indexed by profile. `driver` returns undefined before the run's start and after its end. `report`
   * gets errors that concern no tool call.
   */
  constructor(
    tools: readonly ToolSet[],
    driver: () => Driver | undefined,
    report: (error: unknown) => void,
    options: ToolRunOptions = {},
  ) {
    this.#tools = tools;
    this.#driver = driver;
    this.#elicitations = new Elicitations(driver);
    this.#report = report;
    this.#options = options;
  }

  /** Ties the calls to their run. */
  follow(life: CallLife): void {
    this.#life = life;
  }

  /** Puts other tools and options in place of those before, for the calls that follow. */
  renew(tools: readonly ToolSet[], options: ToolRunOptions): void {
    this.#tools = tools;
    this.#options = options;
  }

  /** Starts a call; the driver gets its result. */
  call(invocation: ToolInvocation): void {
    const { call } = invocation;
    const abort = new Abort();
    this.#running.set(call, abort);
    void this.#inStep(invocation, abort).then((result) => {
      if (this.#running.get(call) !== abort) return;
      this.#forget(call, "the call is over");
      this.#finished.set(call, result);
      this.#hand(call, result);
    });
  }

  /** The calls that an instance has started and whose results none has taken. */
  get open(): number[] {
    return [...this.#running.keys(), ...this.#finished.keys()];
  }

  /** Hands a tool the answer to its question of this number. */
  answer(call: number, number: number, answer: ElicitationAnswer): void {
    this.#elicitations.answer(call, number, answer);
  }

  /** Hands a fresh instance the inputs that came while there was none, and those that the lost one had not saved. */
  handAgain(): void {
    for (const [call, checkpoint] of this.#checkpoints) this.#driver()?.toolCheckpoint(call, ...checkpoint);
    this.#elicitations.putAgain();
    for (const [call, result] of [...this.#finished]) this.#hand(call, result);
  }

  #hand(call: number, result: ToolReturn): void {
    const driver = this.#driver();
    driver?.toolFinished(call, result);
    if (driver !== undefined && this.#driver() === driver) this.#finished.delete(call);
  }

  /** Aborts a running call and forgets it. */
  abort(call: number, why: string, isSuspended = false): void {
    const abort = this.#running.get(call);
    this.#finished.delete(call);
    this.#forget(call, why);
    abort?.abort(why, isSuspended ? "SuspendError" : "AbortError");
  }

  #forget(call: number, why: string): void {
    this.#running.delete(call);
    this.#checkpoints.delete(call);
    this.#elicitations.forget(call, () => new DOMException(why, "AbortError"));
  }

  /** Aborts all calls, because the run is over, or because another process continues it. */
  abortAll(why: string, isSuspended = false): void {
    for (const call of [...this.#running.keys()]) this.abort(call, why, isSuspended);
    this.#prepared.clear();
    this.#finished.clear();
  }

  /** The inputs of calls after validation, with their resource keys. */
  prepare(calls: readonly ToolInvocation[]): Promise<PreparedCall[]> {
    return Promise.all(calls.map((asked) => this.#prepare(asked)));
  }

  /** The words that tell the model about failed calls. */
  word(errors: readonly AskedError[]): Promise<string[]> {
    return Promise.all(errors.map((asked) => this.#word(asked)));
  }

  async #word({ error: { error, ...fault }, ...call }: AskedError): Promise<string> {
    try {
      const text: unknown = await this.#options.wordError!(fault, call);
      if (typeof text === "string") return text;
      this.#report(new TypeError(`toolCalls.wordError returned ${describe(text)} for ${call.toolName}`));
    } catch (thrown) {
      this.#report(thrown);
    }
    return JSON.stringify({ error, ...fault });
  }

  async #prepare(asked: ToolInvocation): Promise<PreparedCall> {
    const { toolCallId, toolName, input: written, profile } = asked;
    const known = this.#tools[profile]?.get(toolName);
    if (known === undefined) return {};
    const prepared: PreparedCall = {};
    const place = placeOf(asked);
    this.#prepared.delete(place);
    let input = written;
    try {
      let text = textOf(input);
      const writtenText = text;
      if (known.standard !== undefined) {
        const checked = await known.standard["~standard"].validate(input);
        if (checked.issues !== undefined) return { problem: issuesInWords(checked.issues) };
        input = checked.value;
        text = textOf(input);
        // A copy, because your functions get the value.
        if (text !== undefined && text !== writtenText) prepared.input = JSON.parse(text) as unknown;
      }
      const key = resourceKey(known, input);
      if (key !== undefined) prepared.resourceKey = key;
      const about = [known, untouched({ input, text }), toolCallId] as const;
      if (await isTrue("needsApproval", ...about)) prepared.needsApproval = true;
      if (await isTrue("leadsElsewhere", ...about)) prepared.leadsElsewhere = true;
      if (known.standard !== undefined && this.#driver() !== undefined)
        this.#prepared.set(place, { input, text, judged: text ?? writtenText });
    } catch (error) {
      return { problem: `The input could not be checked: ${message(error)}` };
    }
    return prepared;
  }

  /** Performs a call as a step if there are any. An engine that gives a step up fails the call. */
  async #inStep(invocation: ToolInvocation, abort: Abort): Promise<ToolReturn> {
    const perform = (): Promise<ToolReturn> => this.#perform(invocation, abort);
    const { steps } = this.#options;
    if (steps === undefined) return perform();
    try {
      return await steps.call(`${invocation.toolName} ${invocation.toolCallId}`, perform);
    } catch (error) {
      return { fault: faultOf(error) };
    }
  }

  /**
   * Performs a call and never rejects: an error that the tool throws, or that reading its result throws, is a fault.
   */
  async #perform(invocation: ToolInvocation, abort: Abort): Promise<ToolReturn> {
    try {
      const { call, toolCallId, iteration, checkpoint } = invocation;
      const permit = this.#life.permit();
      // Nothing may stand between the look at the lease and the call, so it waits only if it must.
      if (permit !== "granted") {
        const problem = this.#problemOf(await permit, invocation);
        if (problem !== undefined) return { fault: problem };
      }
      let asked = checkpoint?.asked ?? 0;
      const progress = (data: unknown): void => this.#progress(invocation.call, data);
      let isLast = false;
      const result = this.#execute(invocation, {
        toolCallId,
        get signal() {
          return abort.signal;
        },
        progress,
        elicit: async (request) => this.#elicitations.ask(call, ++asked, request),
        checkpoint: (state) => this.#checkpoint(call, state, asked),
        restored: checkpoint?.state,
        fence: this.#life.fence(),
        mayRead: (path) => this.#running.has(call) && this.#driver()?.withholds(call, path) === false,
        iteration,
        inputs: this.#options.inputs ?? {},
        terminate: () => void (isLast = true),
      });
      const given = returned(await (isGenerator(result) ? drain(result, progress, abort.signal) : result));
      const output = given instanceof Promise ? await given : given;
      return isLast && !("fault" in output) ? { ...output, terminate: true } : output;
    } catch (error) {
      // The error of an aborted call is dropped.
      if (this.#running.has(invocation.call)) this.#life.onThrow(invocation.toolCallId, error);
      return { fault: faultOf(error) };
    }
  }

  /** Calls the tool, the handler of its kind, or `onUnknownTool` for an unknown tool. */
  #execute(invocation: ToolInvocation, context: ToolContext): unknown {
    const { toolName } = invocation;
    const known = this.#tools[invocation.profile]?.get(toolName);
    const input = this.#input(invocation);
    const { onUnknownTool, handlers = {} } = this.#options;
    if (known === undefined) {
      if (typeof onUnknownTool !== "function") throw new Error(`There is no tool ${toolName}.`);
      return onUnknownTool({ toolName, input }, context);
    }
    const { options, defined } = known;
    if (options.execute !== undefined) return options.execute.call(defined, input, context);
    const more = { toolName, tool: defined };
    // A descriptor without a prototype: fields that other code adds to every object are ignored.
    for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(context)))
      Object.defineProperty(more, name, { __proto__: null, ...own } as PropertyDescriptor);
    return handlerOf(options, handlers)!(input, more as unknown as ToolHandlerContext);
  }

  #input(invocation: ToolInvocation): unknown {
    const { input } = invocation;
    if (this.#prepared.size === 0) return input;
    const place = placeOf(invocation);
    const prepared = this.#prepared.get(place);
    this.#prepared.delete(place);
    // A hook or an approval may have replaced the input in the meantime.
    if (prepared === undefined || prepared.judged !== textOf(input)) return input;
    return untouched(prepared);
  }

  async #checkpoint(call: number, state: unknown, asked: number): Promise<void> {
    const json = jsonOf(state);
    if (!this.#running.has(call)) return;
    this.#checkpoints.set(call, [json, asked]);
    this.#driver()?.toolCheckpoint(call, json, asked);
    // The engine hands its entries out when the callback at hand has returned.
    await null;
    await this.#life.saved();
    // Another process resumes from this state if it has acquired the run meanwhile.
    const permit = await this.#life.permit();
    if (permit !== "granted") throw new DOMException(NO_LEASE[permit], "AbortError");
  }

  /** The reason why a call is not made. */
  #problemOf(permit: Permit, { call, once }: ToolInvocation): ToolFault | undefined {
    const isAborted = !this.#running.has(call);
    if (permit === "granted" || (permit === "unknown" && once !== true)) {
      if (!isAborted) return undefined;
      permit = "lost";
    }
    const hint = "Tell the user that nothing was done.";
    return { code: "save_failed", message: NO_LEASE[permit], hint, recoverable: true };
  }

  #progress(call: number, data: unknown): void {
    if (!this.#running.has(call)) return;
    let json: string | undefined;
    try {
      json = jsonOf(data) ?? "null";
    } catch (error) {
      this.#report(error);
      return;
    }
    this.#driver()?.toolProgress(call, json);
  }
}

const NO_LEASE = {
  lost: "another process goes on with this run, so the call was not made",
  unknown: "the lease of this run could not be renewed, so the call was not made",
};

/** A value after validation. */
interface Prepared {
  readonly input: unknown;
  /** Its JSON at that moment; undefined for a value that JSON cannot hold. */
  readonly text: string | undefined;
  /** The JSON that rules have judged. */
  readonly judged: string | undefined;
}

/** The value, or what its JSON said: a function that changed it in place must not get it past the rules. */
function untouched({ input, text }: Pick<Prepared, "input" | "text">): unknown {
  return text === undefined || textOf(input) === text ? input : (JSON.parse(text) as unknown);
}

function placeOf({
  agent,
  toolName,
  toolCallId,
}: Pick<ToolInvocation, "agent" | "toolName" | "toolCallId">): string {
  return `${agent} ${toolName} ${toolCallId}`;
}

/** Makes a signal when it is first read: most functions never read it, and a signal costs more than a call. */
export class Abort {
  #controller: AbortController | undefined;
  #reason: DOMException | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(why: string, name = "AbortError"): void {
    this.#reason = new DOMException(why, name);
    this.#controller?.abort(this.#reason);
  }
}

type ToolGenerator = AsyncGenerator<unknown, unknown, undefined> | Generator<unknown, unknown, undefined>;

/** Runs a generator: its yields are progress, its return value is the result. An abort runs its clean-up. */
async function drain(
  generator: ToolGenerator,
  progress: (data: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> {
  signal.addEventListener("abort", () => void leave(generator), { once: true });
  for (;;) {
    const step = await generator.next();
    if (step.done === true) return step.value;
    progress(step.value);
    if (signal.aborted) return undefined;
  }
}

async function leave(generator: ToolGenerator): Promise<void> {
  try {
    await generator.return(undefined);
  } catch {
    // The call is over, so an error of the clean-up is ignored.
  }
}

function resourceKey({ options, defined }: KnownTool, input: unknown): string | undefined {
  const key: unknown = options.resourceKey?.call(defined, input);
  if (key === undefined || key === null || key === "") return undefined;
  if (typeof key === "object")
    throw new TypeError(`resourceKey needs to return a text, got ${describeReturned(key)}`);
  return String(key);
}

/** True if the tool's function of this name says so about a call, or throws. */
async function isTrue(
  name: "needsApproval" | "leadsElsewhere",
  { options, defined }: KnownTool,
  input: unknown,
  toolCallId: string,
): Promise<boolean> {
  const judge = options[name];
  if (typeof judge !== "function") return false;
  try {
    return Boolean(await judge.call(defined, input, { toolCallId }));
  } catch {
    return true;
  }
}

function isGenerator(value: unknown): value is ToolGenerator {
  if (typeof value !== "object" || value === null) return false;
  const { next, return: end } = value as { next?: unknown; return?: unknown };
  if (typeof next !== "function" || typeof end !== "function") return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
