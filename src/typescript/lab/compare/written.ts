/** Reports in the forms that people and CI servers read. */
import { LoopletError } from "../../core/api/errors.js";
import { describe, isObject } from "../../core/kit/check.js";
import { harmless, oneLine } from "../replay/harmless.js";
import { kindsOf, VERDICTS, type ComparedRun, type CompareReport, type Share } from "./report.js";

/** The maximum number of kinds of differences that a text or a Markdown page describes in detail. */
const MAX_KINDS = 20;
/** Names of runs in the line of a kind. */
const MAX_NAMES = 10;

/**
 * The report as plain text: one sentence, a table, and a line for each kind of difference with its runs, the worst
 * first. Under it is the first of these runs as an example.
 *
 * @beta
 */
export function textReport(report: CompareReport): string {
  const rows = rowsOf(checked(report));
  const [first, last] = [widthOf(rows, 0), widthOf(rows, 1)];
  const table = rows.map((row) => `  ${row[0].padEnd(first)}  ${row[1].padStart(last)}  ${row[2]}`);
  const told = toldKinds(report).flatMap(({ head, example }) => [
    "",
    oneLine(head),
    ...detailsOf(example).map(indent),
  ]);
  return harmless([sentenceOf(report), "", ...table, ...told, ...restOf(report), ""].join("\n"));
}

/** The report as Markdown, for the summary of a CI job or a comment of a pull request. @beta */
export function markdownReport(report: CompareReport): string {
  const rows = rowsOf(checked(report)).map((row) => `| ${row.map(cell).join(" | ")} |`);
  const told = toldKinds(report).flatMap(({ head, example: run }) => {
    const [diff = "", ...details] = [run.firstDifference?.diff, ...sentencesOf(run)];
    const fence = "`".repeat(Math.max(3, ...(diff.match(/`+/g) ?? []).map((ticks) => ticks.length + 1)));
    const block = diff === "" ? [] : ["", `${fence}diff`, diff, fence];
    return ["", `**${escaped(head)}**`, "", ...details.map((one) => `- ${escaped(one)}`), ...block];
  });
  const table = ["| runs | number | share, 95 % interval |", "| - | -: | - |", ...rows];
  return harmless([sentenceOf(report), "", ...table, ...told, ...restOf(report), ""].join("\n"));
}

/** The report as JUnit XML: a test case for each run, and a failure for each that counts against the change. @beta */
export function junitReport(report: CompareReport): string {
  const failed = checked(report).runs.filter(({ isFailed }) => isFailed).length;
  const cases = report.runs.map((run) => {
    const open = `    <testcase classname="looplet.compare" name="${xml(oneLine(run.name))}"`;
    if (!run.isFailed) return `${open}/>`;
    const [message = run.verdict] = sentencesOf(run);
    const body = xml(detailsOf(run).join("\n"));
    const failure = `<failure type="${run.verdict}" message="${xml(message)}">${body}</failure>`;
    return `${open}>\n      ${failure}\n    </testcase>`;
  });
  const counts = `tests="${report.runs.length}" failures="${failed}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="looplet compare" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/**
 * Throws an error with the text of the report if a run counts against the change.
 *
 * @beta
 *
 * @throws Error
 */
export function expectSame(report: CompareReport): void {
  if (checked(report).isFailed) throw new Error(textReport(report));
}

function checked(report: CompareReport): CompareReport {
  if (isObject(report) && Array.isArray(report["runs"])) return report;
  const problem = `needs what compare has returned, got ${describe(report)}`;
  throw new LoopletError("misuse_invalid_argument", "report", problem);
}

function sentenceOf({ runs, verdicts }: CompareReport): string {
  if (runs.length === 0) return "There are no runs.";
  const counts = VERDICTS.flatMap((verdict) => {
    const count = verdicts[verdict]?.runs;
    return count === undefined ? [] : [`${count} ${verdict}`];
  });
  return `Of ${runs.length} ${runs.length === 1 ? "run" : "runs"} ${counts.join(", ")}.`;
}

type Row = readonly [name: string, count: string, share: string];

function rowsOf({ verdicts, judges, spent }: CompareReport): Row[] {
  const shares = [
    ...VERDICTS.map((verdict) => [verdict, verdicts[verdict]] as const),
    ...Object.entries(judges).map(([name, share]) => [`judge ${name}`, share] as const),
  ];
  const told = shares.flatMap(([name, share]) => (share === undefined ? [] : [rowOf(name, share)]));
  const { requests, tokens, usd } = spent;
  const asked: Row[] = [["requests sent", `${requests}`, `${tokens} tokens, ${usd.toFixed(4)} US dollars`]];
  return [...told, ...(requests === 0 ? [] : asked)];
}

function rowOf(name: string, { runs, share, low, high }: Share): Row {
  return [name, `${runs}`, `${percent(share)} % (${percent(low)}–${percent(high)})`];
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function widthOf(rows: readonly Row[], column: 0 | 1): number {
  return Math.max(0, ...rows.map((row) => row[column].length));
}

/** The kinds of differences to describe, each with its line and its first run. */
function toldKinds({ runs }: CompareReport): { readonly head: string; readonly example: ComparedRun }[] {
  return kindsOf(runs)
    .slice(0, MAX_KINDS)
    .map(({ verdict, count, runs: indexes }) => {
      const names = indexes.slice(0, MAX_NAMES).map((index) => runs[index]!.name);
      const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : "";
      const head = `${names.join(", ")}${more}: ${count > 1 ? `${count} runs, ` : ""}${verdict}`;
      return { head, example: runs[indexes[0]!]! };
    });
}

function restOf({ runs }: CompareReport): string[] {
  const left = kindsOf(runs).slice(MAX_KINDS);
  const count = left.reduce((sum, kind) => sum + kind.count, 0);
  return count > 0 ? ["", `${count} more runs are not equal, in ${left.length} more kinds.`] : [];
}

function detailsOf(run: ComparedRun): string[] {
  const { diff = "" } = run.firstDifference ?? {};
  return [...sentencesOf(run), ...(diff === "" ? [] : diff.split("\n").map(indent))];
}

function sentencesOf({ why, firstDifference, changed, judges }: ComparedRun): string[] {
  const { what, parts = [] } = firstDifference ?? {};
  return [
    ...(why === "" ? [] : [why]),
    ...(what === undefined ? [] : [what]),
    ...(parts.length > 1 ? [`Other parts that differ: ${parts.slice(1).join(", ")}`] : []),
    ...(changed.length > 0 ? [`Options that changed: ${changed.join(", ")}`] : []),
    ...Object.entries(judges).flatMap(([name, { pass, score, note }]) =>
      pass ? [] : [`Judge ${name}${score === undefined ? "" : ` (${score})`}: ${note ?? "did not pass"}`],
    ),
  ].map(oneLine);
}

function indent(line: string): string {
  return `  ${line}`;
}

function cell(text: string): string {
  return escaped(text).replaceAll("|", "\\|");
}

/** A text without the marks of Markdown and HTML, on one line. */
function escaped(text: string): string {
  return oneLine(text.replace(/[\\*_<>[\]]/g, (mark) => `\\${mark}`));
}

/** A text for XML, without the characters that XML 1.0 forbids. */
function xml(text: string): string {
  const marks: { [mark: string]: string } = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
  };
  return harmless(text)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (mark) => marks[mark]!);
}
