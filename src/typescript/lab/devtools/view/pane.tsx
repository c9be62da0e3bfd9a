/** @jsxImportSource preact */
/** One run: its timeline, its steps, and what is known of the step that is looked at. */
import type { Lab } from "../model/lab.js";
import type { OpenedRun } from "../model/opened-run.js";
import { counted } from "../../replay/amounts.js";
import { lasting } from "../model/words.js";
import { Detail } from "./detail/detail.js";
import { StepList } from "./step-list.js";
import { Timeline } from "./timeline.js";
import { Problem } from "./problem.js";

interface PaneProps {
  lab: Lab;
  run: OpenedRun;
  isBeside?: boolean;
}

export function Pane({ lab, run, isBeside = false }: PaneProps) {
  const { steps, outcome, problem, effects } = run;
  const step = lab.stepOf(run);
  const tookMs = (effects.times.at(-1) ?? 0) - (effects.times[0] ?? 0);
  return (
    <section class="pane" aria-label={`Run ${run.facts.name}`}>
      <header>
        <h2>{run.facts.name}</h2>
        <span class={`badge ${outcome ?? "open"}`}>{outcome ?? "open"}</span>
        <span class="quiet">
          {counted(run.requests.length, "request")} · {counted(steps.length, "step")} · {lasting(tookMs)}
        </span>
        {isBeside && (
          <button type="button" onClick={() => lab.place(undefined)}>
            Close
          </button>
        )}
      </header>
      <Problem text={problem} />
      {steps.length > 0 && (
        <>
          <Timeline lab={lab} run={run} step={step} />
          <div class="columns">
            <StepList lab={lab} run={run} step={step} />
            <Detail lab={lab} run={run} step={step} />
          </div>
        </>
      )}
    </section>
  );
}
