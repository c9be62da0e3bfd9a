/** A run in devtools: a file, or the inputs from a publisher, played in the engine. */
import type { SharedPrefix } from "../../../core/api/index.js";
import type { LoadedWasm } from "../../../core/kit/engine.js";
import { isObject } from "../../../core/kit/check.js";
import type { LoopInput } from "../../replay/loop-file.js";
import { attemptsIn, type StartedAttempt } from "../../replay/prefix-words.js";
import { Playback, type ReplayMoment } from "../../replay/playback.js";
import type { Source } from "../live/attachment.js";
import type { ForkedFrom, LoopHead } from "../live/protocol.js";
import { Effects } from "./effects.js";
import { countUpTo } from "./ordered.js";
import { isTelling } from "./words.js";

/** A request of the run, and the step that sent it. */
export interface RequestPlace {
  readonly step: number;
  readonly method: string;
  readonly url: string;
  readonly agentPath: string;
  /** What it shares with the request before it of the same agent; undefined if they are not compared. */
  readonly prefix: SharedPrefix | undefined;
}

export interface RunFacts {
  /** Two runs never share it. */
  readonly key: string;
  readonly id: string;
  readonly name: string;
  /** The publisher of the run; undefined for a file. */
  readonly source?: Source;
  readonly from?: ForkedFrom | undefined;
  /** The text of the file. */
  readonly file?: string;
}

const TITLE_CHARS = 60;

export class OpenedRun {
  readonly playback: Playback;
  readonly effects = new Effects();
  /** Indexes of the steps that more followed from than a piece of a text. */
  readonly telling: number[] = [];
  readonly requests: RequestPlace[] = [];
  /** Why the run cannot be played any further. */
  problem: string | undefined;
  #inputs: LoopInput[] = [];
  #taken = 0;
  /** Attempts without a request yet. */
  #started: StartedAttempt[] = [];
  #moment: { readonly step: number; readonly steps: number; readonly value: ReplayMoment } | undefined;

  /** @internal */
  constructor(
    readonly facts: RunFacts,
    wasm: LoadedWasm,
  ) {
    this.playback = new Playback(wasm);
  }

  get steps(): Playback["steps"] {
    return this.playback.steps;
  }

  /** How the run ended. Undefined while it is in progress. */
  get outcome(): string | undefined {
    const last = this.steps.at(-1)?.events.at(-1);
    return last?.type === "finish" ? last.outcome.outcome : undefined;
  }

  /** The first prompt of the run. Empty if it had none. */
  get prompt(): string {
    for (const { input } of this.steps) {
      const json = "json" in input.input && isObject(input.input.json) ? input.input.json : {};
      const { content = [] } = (json["prompt"] ?? {}) as { content?: readonly { readonly text?: string }[] };
      const texts = content.flatMap(({ text }) => text ?? []);
      if (texts.length > 0) return texts.join("\n");
    }
    return "";
  }

  /** What a list shows: the name of a file, or the beginning of the prompt, or the id of a run without a text. */
  get title(): string {
    const { file, name } = this.facts;
    if (file !== undefined) return name;
    const words = this.prompt.trim().replace(/\s+/g, " ");
    return words.length > TITLE_CHARS ? `${words.slice(0, TITLE_CHARS)}…` : words || name;
  }

  /** Milliseconds since the epoch; undefined if the first input has no time. */
  get startedMs(): number | undefined {
    return this.steps[0]?.input.nowMs;
  }

  /** The run starts in a process, or resumes in another one. `inputs` are queued until they are played. */
  begin(head: LoopHead, inputs: readonly LoopInput[] = []): void {
    this.#inputs = [...inputs];
    this.effects.begin(head.config);
    this.#started = [];
    this.#played(() => this.playback.begin({ ...head, inputs: this.#inputs }));
  }

  /** Takes in inputs of the latest process. */
  add(inputs: readonly LoopInput[]): void {
    for (const input of inputs) this.#inputs.push(input);
    this.advance();
  }

  /** Plays the queued inputs, until `isEnough`. Returns true if none is left. */
  advance(isEnough?: () => boolean): boolean {
    let isWhole = true;
    this.#played(() => (isWhole = this.playback.advance(isEnough)));
    if (this.playback.lost !== undefined) this.problem = `looplet itself failed: ${this.playback.lost}`;
    const { steps } = this.playback;
    for (; this.#taken < steps.length; this.#taken++) {
      const step = steps[this.#taken]!;
      this.effects.add(step);
      if (isTelling(step)) this.telling.push(this.#taken);
      this.#started.push(...attemptsIn(step.events));
      for (const { method, url } of step.requests) {
        const { agentPath = "root", prefix } = this.#started.shift() ?? {};
        this.requests.push({ step: this.#taken, method, url, agentPath, prefix });
      }
    }
    return isWhole;
  }

  /** The state after a step, or the reason why there is none. */
  moment(step: number): ReplayMoment | string {
    const kept = this.#moment;
    if (kept?.step === step && kept.steps === this.steps.length) return kept.value;
    try {
      const value = this.playback.at(step);
      this.#moment = { step, steps: this.steps.length, value };
      return value;
    } catch (error) {
      return problemOf(error);
    }
  }

  /** The index of the last request that was sent up to a step, or -1. */
  requestBefore(step: number): number {
    return countUpTo(this.requests, step, (request) => request.step) - 1;
  }

  close(): void {
    this.playback.close();
  }

  #played(part: () => unknown): void {
    if (this.problem !== undefined) return;
    try {
      part();
    } catch (error) {
      this.problem = problemOf(error);
    }
  }
}

export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
