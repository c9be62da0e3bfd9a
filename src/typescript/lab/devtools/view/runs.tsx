/** @jsxImportSource preact */
/** The runs that are open: forks below the run that they come from. */
import type { Lab } from "../model/lab.js";
import type { OpenedRun } from "../model/opened-run.js";
import { counted } from "../../replay/amounts.js";

export function Runs({ lab }: { lab: Lab }) {
  const runs = [...lab.runs.values()];
  const idOf = ({ facts }: OpenedRun): string => facts.id;
  const isChild = ({ facts: { from } }: OpenedRun): boolean =>
    from !== undefined && runs.some((run) => idOf(run) === from.run);
  return (
    <nav class="runs" aria-label="Runs">
      <h2>Runs</h2>
      {runs.length === 0 ? (
        <p class="quiet">None yet</p>
      ) : (
        <Branches lab={lab} runs={runs.filter((run) => !isChild(run))} all={runs} />
      )}
      {[...lab.sources.values()].map(({ id, name }) => (
        <p key={id} class="source quiet">
          <span class="dot live" aria-hidden="true" /> Attached to {name}
        </p>
      ))}
    </nav>
  );
}

interface BranchesProps {
  lab: Lab;
  runs: readonly OpenedRun[];
  all: readonly OpenedRun[];
}

function Branches({ lab, runs, all }: BranchesProps) {
  return (
    <ul>
      {runs.map((run) => {
        const forks = all.filter((other) => other !== run && other.facts.from?.run === run.facts.id);
        return (
          <li key={run.facts.key}>
            <Branch lab={lab} run={run} />
            {forks.length > 0 && <Branches lab={lab} runs={forks} all={all} />}
          </li>
        );
      })}
    </ul>
  );
}

function Branch({ lab, run }: { lab: Lab; run: OpenedRun }) {
  const { title, startedMs, facts } = run;
  const { id, from, source } = facts;
  const isSelected = lab.selected === run;
  const isBeside = lab.beside === run;
  const isLive = source !== undefined && lab.sources.has(source.id) && run.outcome === undefined;
  const told =
    run.problem === undefined ? (run.outcome ?? (isLive ? "at work" : "open")) : "cannot be played";
  const where = from === undefined ? "" : `forked at step ${from.step + 1} · `;
  return (
    <div class={isSelected ? "branch is-selected" : "branch"}>
      <button
        type="button"
        class="open"
        title={id}
        aria-current={isSelected ? "true" : undefined}
        onClick={() => lab.select(run)}
      >
        <span class="name">
          <span
            class={`dot ${run.problem === undefined ? told.replace(" ", "-") : "failed"}`}
            aria-hidden="true"
          />
          {title}
        </span>
        <span class="quiet">
          {where}
          {startedMs !== undefined && `${timeOf(startedMs)} · `}
          {told} · {counted(run.steps.length, "step")}
        </span>
      </button>
      {lab.selected !== undefined && !isSelected && (
        <button
          type="button"
          aria-pressed={isBeside}
          title="Compare with the selected run"
          onClick={() => lab.place(isBeside ? undefined : run)}
        >
          Beside
        </button>
      )}
      <button type="button" aria-label={`Close ${title}`} onClick={() => lab.close(run)}>
        ✕
      </button>
    </div>
  );
}

/** The time of day, with the date if it is not today. */
function timeOf(ms: number): string {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}
