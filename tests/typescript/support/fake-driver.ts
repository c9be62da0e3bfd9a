/** A double of the driver: remembers what the TypeScript told it, and plays the engine's part when a test says so. */
import type {
  HostCallbacks,
  RunSource,
  Answer,
  RawRunResult,
  ToolReturn,
} from "../../../src/typescript/core/host/driver.js";
import type { Input } from "../../../src/typescript/core/generated/input.js";
import type { Driver, LoadEngine } from "../../../src/typescript/core/host/engine.js";
import type { Outcome, RunEvent } from "../../../src/typescript/core/api/index.js";

export const USAGE = {
  inputTokens: 3,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 1_500_000,
  isCostReported: false,
};

export class FakeDriver implements Driver {
  readonly calls: [method: string, ...args: unknown[]][] = [];
  /** The configuration of the agent. */
  readonly config: { [name: string]: unknown };
  /** The options of the run, or the entries of its journal. */
  readonly options: { [name: string]: unknown };
  isFreed = false;
  readonly requests = 0;
  text = "";
  #outcome: Outcome | undefined;
  #seq = 0;
  /** Callbacks of the host under way. */
  #depth = 0;
  #isDone = false;

  constructor(
    config: string,
    options: RunSource,
    readonly host: HostCallbacks,
  ) {
    this.config = JSON.parse(config) as { [name: string]: unknown };
    const source = typeof options === "string" ? options : options.texts.join("\n");
    this.options = JSON.parse(source) as { [name: string]: unknown };
  }

  /** Notes the input as its name and its values. As the driver does, an abort sets the outcome at once. */
  tell(input: Input): boolean {
    const [name, facts] = typeof input === "string" ? [input, {}] : Object.entries(input)[0]!;
    if (name === "once") return this.tell((facts as { input: Input }).input);
    const values = Object.values(facts as object) as unknown[];
    this.calls.push([name, ...values]);
    if (name === "cancel") {
      // Inside a callback only the outcome is set, what follows waits until the callback has returned.
      this.#outcome = { outcome: "cancelled", abortReason: values[0] as string };
      if (this.#depth === 0) this.#finish();
    }
    return name !== "addBudget" || values[0] === "root";
  }

  follow(...end: unknown[]): void {
    this.calls.push(["follow", ...end]);
  }

  recall(): void {
    this.calls.push(["recall"]);
  }

  transcripts(): undefined {
    this.calls.push(["transcripts"]);
  }

  tail(): undefined {
    return undefined;
  }

  agent(index: number): [string, string] {
    return index === 0 ? ["root", ""] : [`root/${index}`, `call_${index}`];
  }

  toolFinished(call: number, result: ToolReturn): void {
    this.calls.push(["toolFinished", call, result]);
  }

  toolProgress(call: number, dataJson: string): void {
    this.calls.push(["toolProgress", call, dataJson]);
  }

  toolAsks(call: number, number: number, requestJson: string): void {
    this.calls.push(["toolAsks", call, number, requestJson]);
  }

  withholds(): boolean {
    return false;
  }

  toolCheckpoint(call: number, stateJson: string | undefined, asked: number): void {
    this.calls.push(["toolCheckpoint", call, stateJson, asked]);
  }

  answer(question: number, answer: Answer): boolean {
    this.calls.push(["answer", question, answer]);
    return true;
  }

  outcome(): Outcome | undefined {
    return this.#outcome;
  }

  result(): RawRunResult {
    return {
      ...this.#outcome,
      text: this.text,
      output: null,
      toolCalls: [],
      messages: [{ role: "user", content: [{ type: "text", text: "asked" }] }],
      usage: USAGE,
      chatUsage: USAGE,
      modelUsage: { small: USAGE },
      durationMs: 7,
      apiDurationMs: 5,
      costNanoUsd: 1_500_000,
      iterations: 1,
      finishReason: "stop",
      rawFinishReason: "end_turn",
      undelivered: [],
      streaming: this.#outcome === undefined && this.text !== "" ? [this.#block()] : [],
      subagents: [{ agentPath: "root/keeper", messages: [] }],
    };
  }

  want(kinds: { text: boolean; reasoning: boolean; toolInput: boolean; events: boolean }): void {
    this.calls.push(["want", kinds]);
  }

  free(): void {
    this.isFreed = true;
  }

  [Symbol.dispose](): void {
    this.free();
  }

  /** The arguments of every call of `method`. */
  told(method: string): unknown[][] {
    return this.calls.filter(([name]) => name === method).map(([, ...args]) => args);
  }

  /** What the driver was last told to carry. */
  wanted(): unknown {
    return this.told("want").at(-1)?.[0];
  }

  emit(event: { type: RunEvent["type"]; [field: string]: unknown }): void {
    const stamp = { seq: ++this.#seq, agentPath: "root", iteration: 1, attempt: 1 };
    this.#tell(() => this.host.onEvent({ ...stamp, ...event } as RunEvent, 0));
  }

  #block(): { type: "text"; block: number; text: string; isOver: boolean } {
    return { type: "text", block: 0, text: this.text, isOver: false };
  }

  say(text: string, block = 0, kind: 0 | 1 | 2 = 0): void {
    if (kind === 0) this.text += text;
    this.#tell(() => this.host.onDelta(kind, text, block, ++this.#seq, 0, 1, 1));
  }

  end(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#finish();
  }

  #tell(call: () => void): void {
    this.#depth++;
    call();
    this.#depth--;
    if (this.#depth === 0 && this.#outcome !== undefined) this.#finish();
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (this.#outcome?.abortReason !== undefined)
      this.emit({ type: "abort", reason: this.#outcome.abortReason });
    this.emit({ type: "finish", outcome: this.#outcome });
    this.host.done();
  }
}

/** An engine whose runs are doubles; `drivers` has them in the order of their start. */
export class FakeEngine {
  readonly drivers: FakeDriver[] = [];
  /** Resolves to start the engine; at once unless `isSlow`. */
  open!: () => void;
  refuse!: (error: unknown) => void;
  readonly #opened: Promise<void>;

  constructor({ isSlow = false } = {}) {
    this.#opened = new Promise((resolve, reject) => {
      this.open = resolve;
      this.refuse = reject;
    });
    if (!isSlow) this.open();
  }

  readonly load: LoadEngine = async () => {
    await this.#opened;
    return (config, options, host) => {
      const driver = new FakeDriver(config, options, host);
      this.drivers.push(driver);
      return driver;
    };
  };

  /** The driver of the last run, once it has started. */
  async driver(): Promise<FakeDriver> {
    await settled();
    const driver = this.drivers.at(-1);
    if (driver === undefined) throw new Error("no run has started");
    return driver;
  }
}

/** Every promise that could settle has settled. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** The next macrotask has begun. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
