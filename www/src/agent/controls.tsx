/**
 * The line above the field with the current activity and the usage of all runs of the chat, and the settings during a
 * chat, behind one button. It opens when the user clicks it, or when a run gets close to a budget.
 */
import type { RunBound } from "looplet";
import { useEffect, useReducer, useState, type CSSProperties, type ReactNode } from "react";
import { review } from "../chat/approval.js";
import { Icon } from "../chat/icon.js";
import { ModeSwitch } from "../chat/mode-switch.js";
import { cost, counted } from "../words/amount.js";
import { budgetNames, budgetOf, budgets, type BudgetName } from "../words/budget.js";
import { choicesOf, modelNameOf } from "../words/connection.js";
import { modes } from "../words/permission.js";
import type { Session, State } from "./session.js";
import { Tally } from "./tally.js";

/** From this share on a bar warns. */
const nearlyUsed = 0.8;
const tickMs = 250;

/** Re-renders as time passes. */
export function useTick(isOn: boolean): void {
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(tick, tickMs);
    return () => clearInterval(timer);
  }, [isOn]);
}

interface ControlsProps {
  session: Session;
  state: State;
}

export function Controls({ session, state }: ControlsProps) {
  const { setup, runs, isRunning, isCompacting } = state;
  const [openedBy, open] = useState<"person" | "run">();
  useTick(isRunning);
  const tally = runs.at(-1)?.tally ?? new Tally();
  tally.tick(Date.now());
  const bars = budgetNames.flatMap((name) => barOf(name, setup.limits[name], tally) ?? []);
  const most = Math.max(0, ...bars.map(({ share }) => share));
  const spent = tally.stoppedBy && budgetOf(tally.stoppedBy);
  const budgetState = spent ? "spent" : stateOf(most);
  const isFine = budgetState === "fine";
  useEffect(() => open((by) => (isFine ? (by === "run" ? undefined : by) : (by ?? "run"))), [isFine]);
  const mode = modes[setup.mode].label;
  const model = modelNameOf(setup.connection);
  const share = bars.length === 0 ? "none" : `${Math.round(most * 100)} %`;
  const toggle = (
    <button
      type="button"
      className="ghost small controls-toggle"
      aria-controls="controls"
      aria-expanded={openedBy !== undefined}
      aria-label={`Controls: ${mode}, ${model}, budget ${share}`}
      data-state={budgetState}
      onClick={() => open(openedBy ? undefined : "person")}
    >
      <Icon name="sliders" />
      <span className="chosen">{`${mode} · ${model}`}</span>
      <span>Budget</span>
      <span className="share">{share}</span>
    </button>
  );
  return (
    <>
      <section className="controls" id="controls" aria-label="Controls" hidden={openedBy === undefined}>
        <div className="switches">
          <ModeSwitch mode={setup.mode} change={(mode) => session.change({ mode })} />
          <ModelSwitch {...{ session, state }} />
          <button
            type="button"
            className="ghost small"
            aria-pressed={isCompacting}
            title={
              isCompacting
                ? "The history is summarised before the next model call"
                : "Summarise the history before the next model call"
            }
            onClick={() => session.compact()}
          >
            <Icon name="fold" />
            Compact now
          </button>
        </div>
        <div className="bars">
          <p className="part-label">Used by this run</p>
          <ul className="budgets" aria-label="Budgets of the run" hidden={bars.length === 0}>
            {bars.map((bar) => (
              <Bar key={bar.name} bar={bar} />
            ))}
          </ul>
          <Bound {...{ session, state }} />
        </div>
      </section>
      <Meter state={state} toggle={toggle} />
    </>
  );
}

function ModelSwitch({ session, state: { setup } }: ControlsProps) {
  const choices = choicesOf(setup.connection);
  return (
    <label className="mode-switch model-switch" title="Asked from the next model call on">
      <Icon name="chip" />
      <select
        aria-label="Model"
        value={modelNameOf(setup.connection)}
        onChange={({ target }) => session.changeModel(choices[target.selectedIndex]!)}
      >
        {choices.map((choice) => (
          <option key={modelNameOf(choice)}>{modelNameOf(choice)}</option>
        ))}
      </select>
    </label>
  );
}

interface BarFacts {
  name: BudgetName;
  limit: number;
  used: number;
  text: string;
  /** What a screen reader says. */
  said: string;
  share: number;
  isSpent: boolean;
}

const stateOf = (share: number) => (share >= nearlyUsed ? "near" : "fine");

function barOf(name: BudgetName, limit: number | undefined, tally: Tally): BarFacts | undefined {
  if (limit === undefined) return undefined;
  const used = tally.used[name];
  const isKnown = name !== "usd" || tally.isCostKnown;
  const isSpent = tally.stoppedBy === name;
  const text = isKnown ? budgets[name].show(used, limit) : "unknown";
  const said = isSpent ? `${text}, used up` : isKnown ? text : "The model's price is not known";
  const share = isSpent ? 1 : isKnown ? Math.min(1, used / limit) : 0;
  return { name, limit, used, text, said, share, isSpent };
}

function Bar({ bar: { name, limit, used, text, said, share, isSpent } }: { bar: BarFacts }) {
  return (
    <li
      data-budget={name}
      data-state={isSpent ? "spent" : stateOf(share)}
      title={isSpent ? `This budget stopped the run: ${text}` : ""}
    >
      <span className="label">{budgets[name].label}</span>
      <span className="amount">{text}</span>
      <div
        className="track"
        role="meter"
        aria-label={budgets[name].label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        aria-valuetext={said}
        style={{ "--share": share } as CSSProperties}
      />
    </li>
  );
}

/** Shows what the next run may cost, once its inputs have not changed for a moment. */
function Bound({ session, state: { setup, runs, isRunning, text } }: ControlsProps) {
  const [bound, setBound] = useState<RunBound>();
  useEffect(() => {
    const timer = setTimeout(() => void session.bound(text.trim() || "?").then(setBound), 300);
    return () => clearTimeout(timer);
  }, [session, setup, runs.length, isRunning, text]);
  if (!bound) return <p className="bound quiet" />;
  const { costUsd, requests, unbounded } = bound;
  const count = requests === null ? "" : `, in ${counted(requests, "request")} at most`;
  return (
    <p
      className="bound quiet"
      title="agent.bound(prompt): the budget, and one request more for each agent that can be at work"
    >
      {costUsd === null
        ? `Nothing limits what the next run may cost: no ${unbounded.join(", no ")}.`
        : `The next run costs at most ${cost(costUsd)}${count}.`}
    </p>
  );
}

function Meter({ state: { runs, questions, phase }, toggle }: { state: State; toggle: ReactNode }) {
  const open = questions.length;
  const waits = `${counted(open, "call")} ${open === 1 ? "waits" : "wait"} for you`;
  const sum = (name: "tokens" | "usd") => runs.reduce((total, { tally }) => total + tally.used[name], 0);
  const isKnown = runs.every(({ tally }) => tally.isCostKnown);
  return (
    <div className="meter">
      <span className="now">
        <span className="phase" role="status">
          {open > 0 ? waits : phase}
        </span>
        <button type="button" className="small primary" hidden={open === 0} onClick={review}>
          Review
        </button>
      </span>
      <span className="figures" role="group" title="All runs of this chat" aria-label="All runs of this chat">
        {runs.length > 0 && (
          <>
            <span>Chat</span>
            <span className="tokens">{counted(sum("tokens"), "token")}</span>
            <span>{isKnown ? cost(sum("usd")) : "cost unknown"}</span>
          </>
        )}
      </span>
      {toggle}
    </div>
  );
}
