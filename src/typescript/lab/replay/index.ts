/**
 * `looplet/replay`: records of runs, replays of the files that `run.export()` writes, and forks of them.
 *
 * The folder `replay/` reads `.loop` files and plays their inputs in the engine. It performs nothing: no request is
 * sent, no tool is called, no timer is set. It contains no engine: also import an entry of looplet.
 */
export { recorder, redact, type Recording, type RecorderOptions } from "./recorder.js";
export { fork, replay } from "./replay.js";
export { testFile, type TestRunner } from "./test-file.js";
export type { Replay } from "./replay.js";
export type { ReplayCall, ReplayMoment, ReplayQuestion, ReplayRequest, ReplayStep } from "./playback.js";
export type { Expected, ExpectedRequest, LoopFile, LoopInput, LoopProcess } from "./loop-file.js";
