/**
 * `looplet/testing`: recorded runs as tests, in any test runner.
 *
 * The room `testing/` compares replays. Users hand it the text of a `.loop` file. It has no engine of its
 * own; import an entry of looplet beside it.
 */
export { expectReplay, ReplayDifference, withExpectations, type ExpectOptions } from "./expect-replay.js";
