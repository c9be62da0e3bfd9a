/** A recorded run under this version of looplet, against what another version has made of it. */
import type { LoadedWasm } from "../../core/kit/engine.js";
import type { LoopFile } from "../replay/loop-file.js";
import { play } from "../replay/replay.js";
import { requestDifference } from "../testing/differences.js";
import { expectedRequests, whole } from "../testing/expect-replay.js";
import { endingDifference } from "./decisions.js";
import { endOf, toldRequest, type Changed } from "./free.js";

/**
 * How the run fares in this version, against the requests and the end that its file expects.
 *
 * @throws LoopletError, ReplayDifference
 */
export function underThisVersion(wasm: LoadedWasm, file: LoopFile): Changed {
  const { expected } = file;
  const played = whole(play(wasm, file));
  const after = endOf(played);
  if (expected === undefined) {
    const why =
      "The file has no requests to compare with: withExpectations(file) of the older version adds them.";
    return { verdict: "stopped", why, after };
  }
  const before = { ...after, outcome: expected.outcome, text: expected.text };
  const requests = expectedRequests(expected);
  const found = requestDifference(requests, played.requests);
  if (found !== undefined) {
    const at = found.request! - 1;
    const firstDifference = toldRequest(found, requests[at], played.requests[at]);
    return { verdict: "another request", why: "", firstDifference, after };
  }
  const ending = endingDifference(before, after);
  if (ending === undefined) return { verdict: "equal", why: "", after };
  return { verdict: ending.verdict, why: "", firstDifference: ending.difference!, after };
}
