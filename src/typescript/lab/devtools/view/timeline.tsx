/** @jsxImportSource preact */
/** What was under way, and when: a lane for the models of each agent and for each tool, and a cursor. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { laneOrder, openAt, type Effect, type Lane } from "../model/effects.js";
import type { Lab } from "../model/lab.js";
import type { OpenedRun } from "../model/opened-run.js";
import { followed, inputName, lasting } from "../model/words.js";

/** The height of a lane in pixels, as the style has it. */
const LANE = 20;

interface TimelineProps {
  lab: Lab;
  run: OpenedRun;
  step: number;
}

/** The horizontal axis: the time, or the number of the step. */
type Axis = "time" | "steps";

export function Timeline({ lab, run, step }: TimelineProps) {
  const [axis, setAxis] = useState<Axis>("time");
  const { lanes, times, all } = run.effects;
  const rows = lab.rowsOf(run);
  const one = run.steps[step]!;
  const open = openAt(all, step);
  const under = open.map(({ kind, name }) => (kind === "question" ? `asks ${name}` : name)).join(", ");
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="lanes">
        <div class="names">
          {laneOrder(lanes).map((at) => (
            <LaneName key={at} lane={lanes[at]!} />
          ))}
        </div>
        <Bars lab={lab} run={run} step={step} axis={axis} />
      </div>
      <div class="way">
        <button
          type="button"
          aria-label="Step back"
          disabled={rows.rowOf(step) === 0}
          onClick={() => lab.walk(run, -1)}
        >
          ‹
        </button>
        <input
          type="range"
          min={0}
          max={rows.length - 1}
          value={rows.rowOf(step)}
          aria-label="Step"
          aria-valuetext={`${step + 1} of ${run.steps.length}: ${inputName(one)}`}
          onInput={({ currentTarget }) => lab.goRow(run, Number(currentTarget.value))}
        />
        <button
          type="button"
          aria-label="Step forward"
          disabled={rows.rowOf(step) >= rows.length - 1}
          onClick={() => lab.walk(run, 1)}
        >
          ›
        </button>
        <label>
          <span class="away">Axis</span>
          <select value={axis} onChange={({ currentTarget }) => setAxis(currentTarget.value as Axis)}>
            <option value="time">by time</option>
            <option value="steps">by step</option>
          </select>
        </label>
      </div>
      <p class="place" role="status">
        Step {step + 1} of {run.steps.length}, {lasting(times[step]! - times[0]!)}: {inputName(one)}
        {followed(one) !== "" && ` → ${followed(one)}`}
        {under !== "" && <span class="quiet"> · under way: {under}</span>}
      </p>
    </section>
  );
}

function LaneName({ lane: { agentPath, toolName } }: { lane: Lane }) {
  const agent = agentPath === "root" ? "agent" : agentPath.slice("root/".length);
  return (
    <span class={toolName === undefined ? "lane" : "lane of-tool"} title={toolName ?? agent}>
      {toolName ?? agent}
    </span>
  );
}

interface BarsProps extends TimelineProps {
  axis: Axis;
}

function Bars({ lab, run, step, axis }: BarsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(600);
  const { lanes, all } = run.effects;
  const scale = scaleOf(run, axis, width);
  useLayoutEffect(() => {
    const box = canvas.current!.parentElement!;
    const watcher = new ResizeObserver(() => setWidth(box.clientWidth));
    watcher.observe(box);
    return () => watcher.disconnect();
  }, []);
  const scheme = useColorScheme();
  useEffect(() => draw(canvas.current!, run, scale, width), [run, run.steps.length, axis, width, scheme]);
  const jump = (event: MouseEvent): void => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    const lane = laneOrder(lanes)[Math.floor((event.clientY - top) / LANE)];
    lab.go(run, stepAt(run, scale, event.clientX - left, lane));
  };
  return (
    <div class="bars" style={{ height: `${lanes.length * LANE}px` }}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${all.length} model calls, calls of tools, questions and waits in ${lanes.length} lanes`}
        onClick={jump}
      />
      <span class="cursor" style={{ transform: `translateX(${scale.x(step)}px)` }} />
    </div>
  );
}

/** Counts the changes between light and dark, which a canvas does not see. */
function useColorScheme(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const changed = (): void => setCount((before) => before + 1);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  return count;
}

interface Scale {
  /** The place of a step in pixels. */
  x(step: number): number;
}

function scaleOf({ effects: { times }, steps }: OpenedRun, axis: Axis, width: number): Scale {
  const room = Math.max(1, width - 2);
  const [startMs, endMs] = [times[0] ?? 0, times.at(-1) ?? 0];
  if (axis === "steps" || endMs <= startMs) {
    const count = Math.max(1, steps.length - 1);
    return { x: (step) => (step / count) * room };
  }
  return { x: (step) => (((times[step] ?? endMs) - startMs) / (endMs - startMs)) * room };
}

function draw(canvas: HTMLCanvasElement, run: OpenedRun, scale: Scale, width: number): void {
  const { lanes, all } = run.effects;
  const height = lanes.length * LANE;
  const dots = devicePixelRatio;
  Object.assign(canvas, { width: width * dots, height: height * dots });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(dots, dots);
  const style = getComputedStyle(canvas);
  const colors: { [kind: string]: string } = {};
  const colorOf = ({ kind, failed }: Effect): string => {
    const name = failed === undefined ? kind : "failed";
    return (colors[name] ??= colorIn(style, `--${name}`));
  };
  const end = run.steps.length - 1;
  const tops: number[] = [];
  laneOrder(lanes).forEach((lane, row) => (tops[lane] = row * LANE));
  for (const effect of all) {
    const left = scale.x(effect.from);
    const right = scale.x(effect.to ?? end);
    const isThin = effect.kind === "question" || effect.kind === "wait";
    context.fillStyle = colorOf(effect);
    context.fillRect(left, tops[effect.lane]! + (isThin ? 8 : 4), Math.max(2, right - left), isThin ? 4 : 12);
  }
}

/** The value of a colour with `light-dark()`, which a canvas does not read. */
function colorIn(style: CSSStyleDeclaration, name: string): string {
  const [light, dark] = style.getPropertyValue(name).split("|");
  const isDark = style.colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches;
  const only = /^\s*(light|dark)\s*$/.exec(style.colorScheme)?.[1];
  return ((only === undefined ? isDark : only === "dark") ? dark : light)?.trim() ?? "gray";
}

/** The step at a position of a lane: the start of the item there, or the nearest step. */
function stepAt(run: OpenedRun, scale: Scale, x: number, lane: number | undefined): number {
  const end = run.steps.length - 1;
  const isThere = (effect: Effect): boolean =>
    effect.lane === lane &&
    scale.x(effect.from) - 2 <= x &&
    x <= Math.max(scale.x(effect.to ?? end), scale.x(effect.from) + 2) + 1;
  const hit = run.effects.all.filter(isThere).at(-1);
  if (hit !== undefined) return hit.from;
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (scale.x(middle) <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}
