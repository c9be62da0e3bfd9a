//! The scalar options of a run, for the face to check against.

use serde::Serialize;

/// One row of the table that the face checks options against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OptionRow {
    /// Dotted path of the option in `createAgent`.
    pub name: &'static str,
    pub kind: OptionKind,
    /// For the documentation; `none` or a number.
    pub default: &'static str,
}

/// The shape that an option's value must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// A positive integer.
    Count,
    /// A non-negative integer of milliseconds.
    Milliseconds,
    /// A non-negative integer.
    Whole,
    Boolean,
    ToolExecution,
}

/// The scalar options of a run.
pub const OPTIONS: &[OptionRow] = &[
    row("maxIterations", OptionKind::Count, "50"),
    row("maxTotalTokens", OptionKind::Count, "none"),
    row("maxToolRounds", OptionKind::Count, "none"),
    row("maxToolCalls", OptionKind::Count, "none"),
    row("maxStructuredOutputRetries", OptionKind::Whole, "3"),
    row("maxSubagentDepth", OptionKind::Count, "1"),
    row("contextWindow", OptionKind::Count, "none"),
    row("contextBudget", OptionKind::Count, "none"),
    row("timeouts.totalMs", OptionKind::Milliseconds, "none"),
    row("timeouts.iterationMs", OptionKind::Milliseconds, "none"),
    row("timeouts.firstChunkMs", OptionKind::Milliseconds, "600000"),
    row("timeouts.chunkMs", OptionKind::Milliseconds, "120000"),
    row("timeouts.toolMs", OptionKind::Milliseconds, "none"),
    row("retry.maxRetries", OptionKind::Whole, "3"),
    row("retry.baseMs", OptionKind::Milliseconds, "1000"),
    row("retry.factor", OptionKind::Count, "2"),
    row("retry.firstExponent", OptionKind::Whole, "1"),
    row("retry.jitterMs", OptionKind::Milliseconds, "1000"),
    row("retry.maxMs", OptionKind::Milliseconds, "60000"),
    row("retry.respectRetryAfter", OptionKind::Boolean, "true"),
    row("retry.maxCalls", OptionKind::Count, "1"),
    row("toolExecution", OptionKind::ToolExecution, "read-only-parallel"),
    row("maxToolConcurrency", OptionKind::Count, "8"),
    row("strictStopReason", OptionKind::Boolean, "false"),
    row("maxToolResultChars", OptionKind::Count, "100000"),
    row("eagerTools", OptionKind::Boolean, "false"),
    row("estimateUsage", OptionKind::Boolean, "false"),
    row("joinDeltas", OptionKind::Boolean, "true"),
];

const fn row(name: &'static str, kind: OptionKind, default: &'static str) -> OptionRow {
    OptionRow { name, kind, default }
}
