/** The two questions of a dashboard about all runs of this browser, as plots: how many were cut off, and how long others took. */
import { indexedDbTraceStore, traceRows, type IterationsToEndTurn } from "looplet/trace";
import { element } from "./element.js";

const store = indexedDbTraceStore({ name: "looplet-playground-trace" });

/** Keeps a row for each iteration of a run. */
export const keptRows = traceRows(store, { jobId: ({ id }) => id, subagents: false });

export class AllRuns {
  readonly element: HTMLDetailsElement;
  readonly #body = element("div", { class: "plots" });

  constructor() {
    this.element = element(
      "details",
      { class: "all-runs" },
      element("summary", {}, "All runs of this browser"),
      this.#body,
    );
    this.element.addEventListener("toggle", () => void this.draw());
  }

  /** Draws what the browser has kept, if somebody sees it. */
  async draw(): Promise<void> {
    if (!this.element.open) return;
    try {
      const [percent, ends] = [await store.maxItersPercent(), await store.iterationsToEndTurn()];
      this.#body.replaceChildren(shareOf(percent), histogram(ends));
    } catch (error) {
      this.#body.replaceChildren(element("p", { class: "quiet" }, `Nothing is kept here: ${String(error)}`));
    }
  }
}

function shareOf(percent: number): HTMLElement {
  const text = `${Math.round(percent * 10) / 10} % reached their most iterations`;
  return element(
    "p",
    {},
    element("meter", { min: 0, max: 100, value: percent, "aria-label": text }),
    ` ${text}`,
  );
}

/** Bars as a table, so that they can be read without being seen. */
function histogram(ends: readonly IterationsToEndTurn[]): HTMLElement {
  if (ends.length === 0) return element("p", { class: "quiet" }, "No run has come to its end yet.");
  const most = Math.max(...ends.map(({ jobs }) => jobs));
  const rows = ends.map(({ iterations, jobs }) => {
    const bar = element("span", { class: "plot-bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * jobs) / most}%`;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, String(iterations)),
      element("td", { class: "plot" }, bar),
      element("td", {}, String(jobs)),
    );
  });
  const head = ["Iterations", "", "Runs"].map((text) => element("th", { scope: "col" }, text));
  return element(
    "table",
    {},
    element("caption", {}, "Iterations to the end of the model's turn"),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
}
