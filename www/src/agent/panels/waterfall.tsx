/**
 * The trace of a run as a waterfall: a table with a row per step and a bar that says when it went on. Each step opens
 * to what is known about it.
 */
import { Fragment, useState, type CSSProperties, type KeyboardEvent } from "react";
import { duration } from "../../words/amount.js";
import { useTick } from "../controls.js";
import type { Step } from "../run-trace.js";
import type { ShownRun } from "../shown-run.js";
import { AllRuns } from "./all-runs.js";
import { Panel } from "./panel.js";

const kinds: Record<Step["kind"], string> = {
  agent: "agent",
  iteration: "iteration",
  model: "model call",
  tool: "tool",
  wait: "wait",
};

interface WaterfallProps {
  runs: readonly ShownRun[];
  isRunning: boolean;
  isOpen: boolean;
  close(): void;
}

export function Waterfall({ runs, isRunning, isOpen, close }: WaterfallProps) {
  /** A run that is looked back at, until the next one begins. */
  const [chosen, choose] = useState({ at: 0, of: 0 });
  const at = chosen.of === runs.length ? chosen.at : runs.length - 1;
  const run = runs[at];
  const isLive = isRunning && at === runs.length - 1;
  useTick(isOpen && isLive);
  return (
    <Panel
      id="trace"
      label="Trace"
      title="Trace"
      isWide
      isOpen={isOpen}
      count={
        <span className="count">
          <select
            aria-label="Run"
            hidden={!run}
            value={at}
            onChange={({ target }) => choose({ at: Number(target.value), of: runs.length })}
          >
            {runs.map((_, at) => (
              <option key={at} value={at}>{`Run ${at + 1}`}</option>
            ))}
          </select>
        </span>
      }
      copy={() => (run?.trace.spans ?? []).map((span) => JSON.stringify(span)).join("\n")}
      copyTitle="The spans as NDJSON, in the words of OpenTelemetry"
      closeLabel="Close the trace"
      close={close}
    >
      <p className="quiet empty" hidden={run !== undefined}>
        Ask something: every iteration, model call, tool and wait becomes a bar here.
      </p>
      <div className="chart">{run && isOpen && <Chart key={at} run={run} isLive={isLive} />}</div>
      <ul className="legend" aria-label="Meaning of the bars" hidden={!run}>
        {Object.entries(kinds).map(([kind, label]) => (
          <Sample key={kind} kind={kind} label={label} />
        ))}
        <Sample kind="model" state="failed" label="failed" />
      </ul>
      <AllRuns runs={runs.filter(({ result }) => result).length} />
    </Panel>
  );
}

function Sample({ kind, state, label }: { kind: string; state?: string; label: string }) {
  return (
    <li data-kind={kind} data-state={state}>
      <span className="lane" aria-hidden="true">
        <span className="stretch" />
      </span>
      {label}
    </li>
  );
}

/** The times between which the bars of a chart lie. */
interface Range {
  zeroMs: number;
  spanMs: number;
  nowMs: number;
}

function Chart({ run, isLive }: { run: ShownRun; isLive: boolean }) {
  const { root } = run.trace;
  if (!root) return null;
  const nowMs = isLive ? Date.now() : (root.endMs ?? root.startMs);
  const range = { zeroMs: root.startMs, spanMs: Math.max(1, (root.endMs ?? nowMs) - root.startMs), nowMs };
  return (
    <table className="waterfall">
      <caption className="hidden">Steps of the run: when each began and how long it took</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">
            <span className="hidden">Time</span>
            <span className="axis" aria-hidden="true">
              {[0, 0.5, 1].map((share) => (
                <span key={share}>{duration(range.spanMs * share)}</span>
              ))}
            </span>
          </th>
          <th scope="col" className="took">
            Took
          </th>
        </tr>
      </thead>
      <tbody onKeyDown={walk}>
        <Steps step={root} depth={0} range={range} />
      </tbody>
    </table>
  );
}

function Steps({ step, depth, range }: { step: Step; depth: number; range: Range }) {
  return (
    <>
      <StepRow step={step} depth={depth} range={range} />
      {step.children.map((child) => (
        <Steps key={child.id} step={child} depth={depth + 1} range={range} />
      ))}
    </>
  );
}

function StepRow({
  step,
  depth,
  range: { zeroMs, spanMs, nowMs },
}: {
  step: Step;
  depth: number;
  range: Range;
}) {
  const [isOpen, open] = useState(false);
  const isOver = step.endMs !== undefined;
  const endMs = step.endMs ?? nowMs;
  const tookMs = Math.max(0, endMs - step.startMs);
  const isHeld = step.isHeld && !isOver;
  const heldMs = Math.max(0, (step.ranFromMs ?? (isHeld ? endMs : step.startMs)) - step.startMs);
  const fromMs = Math.max(0, step.startMs - zeroMs);
  const known: Record<string, unknown> = {
    start: duration(fromMs),
    took: isOver ? duration(tookMs) : "goes on",
    ...(heldMs > 0 && isOver && { ran: duration(tookMs - heldMs) }),
    ...step.facts,
  };
  const bar = {
    "--from": (step.startMs - zeroMs) / spanMs,
    "--share": tookMs / spanMs,
    "--held": tookMs > 0 ? heldMs / tookMs : 0,
  };
  return (
    <>
      <tr
        data-kind={step.kind}
        data-state={step.error !== undefined ? "failed" : isOver ? "done" : "open"}
        style={{ "--depth": Math.min(depth, 8) } as CSSProperties}
      >
        <th scope="row">
          <button type="button" className="ghost small" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            <span className="name" title={step.name}>
              {step.name}
            </span>
            <span className="hidden"> ({kinds[step.kind]})</span>
          </button>
        </th>
        <td className="lane">
          <span className="stretch" aria-hidden="true" style={bar as CSSProperties} />
          <span className="hidden">from {duration(fromMs)}</span>
        </td>
        <td className="took">{isHeld ? "waits" : duration(tookMs)}</td>
      </tr>
      <tr className="more" hidden={!isOpen}>
        <td colSpan={3} tabIndex={0} aria-label="What is known">
          <dl>
            {Object.entries(known).map(([key, value]) => (
              <Fragment key={key}>
                <dt>{key}</dt>
                <dd>{Array.isArray(value) ? value.join(", ") : String(value)}</dd>
              </Fragment>
            ))}
          </dl>
        </td>
      </tr>
    </>
  );
}

/** Up and down go from step to step. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  if (way === 0 || at < 0) return;
  event.preventDefault();
  buttons[at + way]?.focus();
}
