/**
 * `looplet/testing`: recorded runs as tests, and the contracts of stores and files, in any test runner.
 *
 * The folder `testing/` compares replays and checks stores. Users pass it the text of a `.loop` file, or a function
 * that opens their store. It contains no engine: also import an entry of looplet.
 */
export { expectReplay, ReplayDifference, withExpectations, type ExpectOptions } from "./expect-replay.js";
export { checkStore, storeCases, type StoreCase, type StoreVerdict } from "./store-contract.js";
export { checkVfs } from "./vfs-contract.js";
export { chaos, type AskedTurn, type ChaosOptions, type WorldModel } from "./simulation/model/chaos.js";
export type { Choice } from "./simulation/choices.js";
export {
  alwaysApproved,
  ends,
  endsAs,
  endsWithin,
  legalTranscript,
  neverAfter,
  neverTwice,
  noDefects,
  nothingAfterTheEnd,
  underBudget,
  type Invariant,
  type NamedInvariant,
} from "./simulation/invariants.js";
export { recorded } from "./simulation/model/recorded.js";
export type { Rates, SimulateOptions, WorldOptions } from "./simulation/options.js";
export type {
  SimulatedCall,
  SimulatedEffect,
  SimulatedProcess,
  SimulatedRequest,
  SimulatedRun,
} from "./simulation/record.js";
export {
  simulate,
  SimulationFailure,
  type Failure as SimulatedFailure,
  type Simulation,
} from "./simulation/simulate.js";
export type { Subject, World } from "./simulation/world.js";
