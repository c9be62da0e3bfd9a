/** @jsxImportSource preact */
/** The steps of a run as a list. Only the rows that can be seen are in the page, so its length is of no matter. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Lab } from "../model/lab.js";
import type { OpenedRun } from "../model/opened-run.js";
import { followed, inputName, lasting } from "../model/words.js";

/** The height of a row in pixels, as the style has it. */
const ROW = 32;
/** Rows above and below those that can be seen. */
const MORE = 8;

interface StepListProps {
  lab: Lab;
  run: OpenedRun;
  step: number;
}

export function StepList({ lab, run, step }: StepListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const rows = lab.rowsOf(run);
  const here = rows.rowOf(step);
  useLayoutEffect(() => {
    const element = box.current!;
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current!;
    if (here * ROW < element.scrollTop) element.scrollTop = here * ROW;
    const bottom = (here + 1) * ROW - element.clientHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  }, [here, rows.length, height]);
  const first = Math.max(0, Math.floor(top / ROW) - MORE);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + MORE);
  const found = new Set(lab.selected === run ? lab.search?.found : []);
  const walk = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / ROW) - 1);
    const ways: { readonly [key: string]: number } = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const way = ways[event.key];
    if (way === undefined) return;
    event.preventDefault();
    lab.walk(run, way);
  };
  const shown = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return (
    <section class="steps" aria-label="Steps">
      <label class="check">
        <input
          type="checkbox"
          checked={lab.isEveryStep}
          onChange={({ currentTarget }) => lab.showEvery(currentTarget.checked)}
        />
        <span>Every input</span>
      </label>
      <div
        ref={box}
        class="rows"
        role="listbox"
        tabIndex={0}
        aria-label="Steps"
        aria-activedescendant={`${run.facts.key} ${here}`.replaceAll(" ", "-")}
        onKeyDown={walk}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div role="presentation" style={{ height: `${rows.length * ROW}px` }}>
          {shown.map((row) => (
            <Row
              key={row}
              run={run}
              row={row}
              count={rows.length}
              step={rows.at(row)}
              isHere={row === here}
              isFound={found.has(rows.at(row))}
              go={() => lab.goRow(run, row)}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

interface RowProps {
  run: OpenedRun;
  row: number;
  count: number;
  step: number;
  isHere: boolean;
  isFound: boolean;
  go(): void;
}

function Row({ run, row, count, step, isHere, isFound, go }: RowProps) {
  const one = run.steps[step]!;
  const { times } = run.effects;
  const agent = one.events.find(({ agentPath }) => agentPath !== "root")?.agentPath;
  const more = followed(one);
  return (
    <div
      id={`${run.facts.key} ${row}`.replaceAll(" ", "-")}
      class={`row${isHere ? " is-here" : ""}${isFound ? " is-found" : ""}`}
      role="option"
      aria-selected={isHere}
      aria-setsize={count}
      aria-posinset={row + 1}
      style={{ transform: `translateY(${row * ROW}px)` }}
      onClick={go}
    >
      <span class="seq">{step + 1}</span>
      <span class="time">{lasting(times[step]! - times[0]!)}</span>
      <span class="what">
        {inputName(one)}
        {agent !== undefined && <span class="agent"> {agent.slice("root/".length)}</span>}
        {more !== "" && <span class="quiet"> → {more}</span>}
      </span>
    </div>
  );
}
