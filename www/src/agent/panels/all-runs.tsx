/** The two questions of a dashboard about all runs of this browser, as plots: how many were cut off, and how long others took. */
import { indexedDbTraceStore, traceRows, type IterationsToEndTurn } from "looplet/trace";
import { useEffect, useState } from "react";

const store = indexedDbTraceStore({ name: "looplet-playground-trace" });

/** Saves a row for each iteration of a run. */
export const keptRows = traceRows(store, { jobId: ({ id }) => id, subagents: false });

interface Figures {
  percent: number;
  ends: readonly IterationsToEndTurn[];
}

/** `runs` counts the runs that ended in this page: the plots are redrawn after each. */
export function AllRuns({ runs }: { runs: number }) {
  const [isOpen, setOpen] = useState(false);
  const [figures, setFigures] = useState<Figures | string>();
  useEffect(() => {
    if (!isOpen) return;
    const read = async () => ({
      percent: await store.maxItersPercent(),
      ends: await store.iterationsToEndTurn(),
    });
    read().then(setFigures, (error) =>
      setFigures(`The runs of this browser cannot be read: ${String(error)}`),
    );
  }, [isOpen, runs]);
  return (
    <details className="all-runs" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>All runs of this browser</summary>
      <div className="plots">
        {typeof figures === "string" ? <p className="quiet">{figures}</p> : figures && <Plots {...figures} />}
      </div>
    </details>
  );
}

/** Bars as a table, so that they can be read without being seen. */
function Plots({ percent, ends }: Figures) {
  const text = `${Math.round(percent * 10) / 10} % reached their iteration limit`;
  const most = Math.max(...ends.map(({ jobs }) => jobs));
  return (
    <>
      <p>
        <meter min={0} max={100} value={percent} aria-label={text} /> {text}
      </p>
      {ends.length === 0 ? (
        <p className="quiet">No run has ended yet.</p>
      ) : (
        <table>
          <caption>Iterations to the end of the model&apos;s turn</caption>
          <thead>
            <tr>
              <th scope="col">Iterations</th>
              <th scope="col" />
              <th scope="col">Runs</th>
            </tr>
          </thead>
          <tbody>
            {ends.map(({ iterations, jobs }) => (
              <tr key={iterations}>
                <th scope="row">{iterations}</th>
                <td className="plot">
                  <span
                    className="plot-bar"
                    aria-hidden="true"
                    style={{ width: `${(100 * jobs) / most}%` }}
                  />
                </td>
                <td>{jobs}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
