/**
 * `looplet/compare`: recorded runs under a change of the agent, of its tools or of looplet, and the effect of the
 * change.
 *
 * The folder `compare/` plays `.loop` files with the options of another agent, and reports the first request or
 * decision that differs. It contains no engine: also import an entry of looplet.
 */
export type { LiveOptions } from "./budget.js";
export { compare, type Change, type CompareOptions, type RecordedRun } from "./compare.js";
export {
  exact,
  modelAsJudge,
  schema,
  toolSequence,
  type Judge,
  type JudgeAnswer,
  type JudgeTools,
} from "./judges.js";
export { expectSame, junitReport, markdownReport, textReport } from "./written.js";
export type {
  ComparedRun,
  CompareReport,
  DifferenceKind,
  FirstDifference,
  Judgement,
  RunEnd,
  Share,
  ComparedVerdict,
} from "./report.js";
