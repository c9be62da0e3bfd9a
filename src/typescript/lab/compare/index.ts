/**
 * `looplet/compare`: recorded runs under a change of the agent, of its tools or of looplet, and what the change does.
 *
 * The room `compare/` plays `.loop` files with the options of another agent, and tells the first request or decision
 * that differs. It has no engine of its own; import an entry of looplet beside it.
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
