/**
 * `looplet/practice`: language models for practice and for tests, inside the process. No key, no network, no
 * dependency.
 *
 * - `practice()` is a `fetch` with a small deterministic planner: it calls your tools and answers from their results.
 *   Pass it as the option `fetch` of a model, or to a vendor's own SDK.
 * - `scripted([...])` is a `fetch` that answers with exactly the turns you wrote, and records the requests.
 * - `raw(...)` is a response of exactly the bytes you wrote.
 */
export { practice, type PracticeOptions } from "./practice.js";
export {
  raw,
  scripted,
  type RawOptions,
  type ScriptedFetch,
  type ScriptedOptions,
  type ScriptedStep,
} from "./scripted.js";
export { estimateTokens } from "./tokens.js";
export type * from "./types.js";
