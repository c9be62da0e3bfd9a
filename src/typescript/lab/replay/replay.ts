/**
 * Replays of `.loop` files. A replay plays the inputs of a file in order, with their moments, so the engine emits the
 * same events and requests the same requests, calls and saves as in the run itself. None of that is performed.
 */
import type { JournalEntry } from "../../core/api/index.js";
import { loadWasm, type LoadedWasm } from "../../core/kit/engine.js";
import { readLoop, type LoopFile } from "./loop-file.js";
import {
  Playback,
  type Hearing,
  type ReplayMoment,
  type ReplayRequest,
  type ReplayStep,
} from "./playback.js";

/** A run that was played again. @beta */
export interface Replay {
  /** The id of the run. */
  readonly id: string;
  /** A step for each input. */
  readonly steps: readonly ReplayStep[];
  /** All requests, in order. */
  readonly requests: readonly ReplayRequest[];
  /** The error that ended the WebAssembly in the last step: a bug in looplet. */
  readonly lost: string | undefined;
  /**
   * The state after a step, an index of `steps`. It plays the run again up to there.
   *
   * @throws LoopletError `misuse_invalid_argument`
   */
  at(step: number): ReplayMoment;
}

/**
 * Plays the text of a `.loop` file: without a network, a key, tools or waiting. Events, requests, calls, questions
 * and the journal are those of the run. It needs the engine of an entry of looplet: `import "looplet"`.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file` for a text that is not such a file.
 *
 * @beta
 */
export async function replay(file: string): Promise<Replay> {
  const read = readLoop(file);
  return play(await loadWasm(), read);
}

/**
 * The journal of a run after a step, an index of `replay(file).steps`. Pass it to `agent.resume`: the run continues
 * from there, with the options of that agent. An open question is asked again.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file` or `misuse_invalid_argument`.
 *
 * @beta
 */
export async function fork(file: string, at: number): Promise<readonly JournalEntry[]> {
  return (await replay(file)).at(at).journal;
}

/**
 * Plays a file that was read.
 *
 * @throws LoopletError `misuse_run_file`
 * @internal
 */
export function play(wasm: LoadedWasm, file: LoopFile, hearing: Hearing = {}): Replay {
  const playback = new Playback(wasm, hearing);
  const closing = <T>(part: () => T): T => {
    try {
      return part();
    } finally {
      playback.close();
    }
  };
  closing(() => {
    for (const process of file.processes) {
      playback.begin(process);
      playback.advance();
      if (playback.lost !== undefined) break;
    }
  });
  const { steps, lost } = playback;
  return {
    id: file.id,
    steps,
    requests: steps.flatMap(({ requests }) => requests),
    lost,
    at: (step) => closing(() => playback.at(step)),
  };
}
