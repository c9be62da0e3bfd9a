/**
 * `looplet/testing`: recorded runs as tests, and the contracts of stores and files, in any test runner.
 *
 * The room `testing/` compares replays and checks stores. Users hand it the text of a `.loop` file, or a function
 * that opens their store. It has no engine of its own; import an entry of looplet beside it.
 */
export { expectReplay, ReplayDifference, withExpectations, type ExpectOptions } from "./expect-replay.js";
export { checkStore, storeCases, type StoreCase, type StoreVerdict } from "./store-contract.js";
export { checkVfs } from "./vfs-contract.js";
