/** Prints what was measured: a table for each group, the growth, the targets, and how far the peers are from their reference. */
import { REFERENCE, TARGETS } from "./targets.mjs";
import { unitOf } from "./workloads.mjs";

const FLOOR = "raw-js";
const wireTitles = { anthropic: "Anthropic wire", "openai-chat": "OpenAI chat wire" };
const groupTitles = {
  W1: "W1  one answer of 20,000 text deltas",
  W2: "W2  one tool call with large arguments, then an answer",
  W3: "W3  a loop with 3 parallel tool calls an iteration",
  W4: "W4  fresh process: CPU from import to the first delta; a fresh workerd: its whole CPU up to there",
  W6: "W6  peak memory of a process: 20,000 and 200,000 deltas, 800 iterations",
  W7: "W7  100 runs at once, 10 iterations of 200 deltas and 3 tool calls each",
};

/** `figures`: a list of `{ contestant, workload, wire, value, samples }`, or with `note` in place of a value. */
export function report(figures, contestants) {
  const find = (contestant, workload, wire) =>
    figures.find((f) => f.contestant === contestant && f.workload === workload && f.wire === wire);
  const valueOf = (...key) => find(...key)?.value;
  const ratioOf = (contestant, workload, wire) =>
    valueOf(contestant, workload, wire) / valueOf(FLOOR, workload, wire);

  const titles = new Map(contestants.map(({ name, title }) => [name, title]));
  for (const group of Object.keys(groupTitles)) {
    for (const wire of Object.keys(wireTitles)) {
      const ids = unique(
        figures.filter((f) => f.workload.startsWith(group) && f.wire === wire).map((f) => f.workload),
      );
      if (ids.length === 0) continue;
      const names = contestants
        .map(({ name }) => name)
        .filter((name) => ids.some((id) => find(name, id, wire)));
      const cell = (name, id) => {
        const figure = find(name, id, wire);
        if (figure?.value === undefined) return figure?.note ?? "–";
        return `${number(figure.value)} (${number(ratioOf(name, id, wire))})`;
      };
      heading(`${groupTitles[group]} · ${wireTitles[wire]} · ${unitOf(ids[0])} (ratio to raw-js)`);
      table([["", ...ids], ...names.map((name) => [titles.get(name), ...ids.map((id) => cell(name, id))])]);
      if (group === "W2") growth(names, titles, wire, "W2-4M", "W2-1M", 1);
      if (group === "W3") loopGrowth(names, ids, wire);
      if (group === "W6") growth(names, titles, wire, "W6-200k", "W6-20k", 1);
    }
  }
  targets();
  reference();

  function growth(names, titles, wire, large, small, factor) {
    const grown = names.filter((name) => valueOf(name, large, wire) && valueOf(name, small, wire));
    if (grown.length === 0) return;
    const list = grown.map((name) => {
      const times = (factor * valueOf(name, large, wire)) / valueOf(name, small, wire);
      return `${titles.get(name)} ${number(times)}`;
    });
    console.log(`growth ${large} / ${small}: ${list.join(" · ")}`);
  }

  function loopGrowth(names, ids, wire) {
    growth(names, titles, wire, "W3-800", "W3-200", 4);
    const copied = ids.map((id) => valueOf("drain", id, wire));
    if (copied.includes(undefined)) return;
    console.log("without the copies of the body, which drain pays too (ms/iteration; flat = linear in all):");
    const rows = names
      .filter((name) => name !== "drain" && ids.every((id) => valueOf(name, id, wire)))
      .map((name) => [
        titles.get(name),
        ...ids.map((id, at) => number(valueOf(name, id, wire) - copied[at])),
      ]);
    table([["", ...ids], ...rows]);
  }

  function targets() {
    const rows = TARGETS.flatMap((goal) => {
      const { contestant, workload, wire = "anthropic", target, stretch } = goal;
      const reached = measured(goal, wire);
      if (!Number.isFinite(reached)) return [];
      const verdict =
        reached > target ? "MISS" : stretch !== undefined && reached <= stretch ? "stretch" : "pass";
      const what = `${titles.get(contestant)} · ${workload} ${wire} · ${explain(goal)}`;
      return [[what, number(reached), `≤ ${target}`, stretch === undefined ? "" : `≤ ${stretch}`, verdict]];
    });
    if (rows.length === 0) return console.log("\nNo target was measured.");
    heading("Targets");
    table([["", "measured", "target", "stretch", ""], ...rows]);
  }

  function measured({ contestant, workload, as = "ratio", from }, wire) {
    const value = valueOf(contestant, workload, wire);
    if (as === "ratio") return ratioOf(contestant, workload, wire);
    if (as === "absolute") return value;
    if (as === "above") return value - valueOf(FLOOR, workload, wire);
    if (as === "growth") return value / valueOf(contestant, from, wire);
    const own = (id) =>
      (valueOf(contestant, id, wire) - valueOf("drain", id, wire)) * Number(id.split("-")[1]);
    return own(workload) / own(from);
  }

  function explain({ as = "ratio", from, workload }) {
    if (as === "ratio") return "of raw-js";
    if (as === "absolute") return unitOf(workload);
    if (as === "above") return `${unitOf(workload)} above raw-js`;
    return as === "growth" ? `times ${from}` : `times ${from}, without the copies of the body`;
  }

  function reference() {
    const compared = Object.entries(REFERENCE).flatMap(([name, ratios]) =>
      Object.entries(ratios).flatMap(([id, expected]) => {
        const ratio = ratioOf(name, id, "anthropic");
        return Number.isFinite(ratio) ? [{ name, id, ratio, expected }] : [];
      }),
    );
    if (compared.length === 0) return;
    const far = compared
      .filter(({ ratio, expected }) => ratio > expected * 2 || ratio < expected / 2)
      .map(
        ({ name, id, ratio, expected }) =>
          `${titles.get(name)} ${id} is ${number(ratio)} of raw-js, was ${expected}`,
      );
    console.log(
      far.length === 0
        ? `\n${compared.length} ratios of the other contestants are within a factor of 2 of their reference.`
        : `\nMore than a factor of 2 from the reference (noise, or a changed version):\n  ${far.join("\n  ")}`,
    );
  }
}

export function heading(text) {
  console.log(`\n${text}`);
}

/** `rows` are lists of texts, of which the first is the heads of the columns. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) {
    const [first, ...rest] = row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]),
    );
    console.log(["", first, ...rest].join("  ").trimEnd());
  }
}

export function number(value) {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 1
        ? value.toFixed(2)
        : value.toFixed(3);
}

function unique(list) {
  return [...new Set(list)];
}
