/** A run file, step by step: the state behind each step, what came in and what followed from it. */
import type { Tool } from "looplet";
import { testFile, type Replay, type ReplayMoment, type ReplayStep } from "looplet/replay";
import { viewOf } from "looplet/ui";
import { useEffect, useRef, useState } from "react";
import { Notice } from "../../chat/notice.js";
import { Bubble, Parts } from "../../chat/parts.js";
import { cost, counted, shown } from "../../words/amount.js";
import type { Setup } from "../session.js";
import { ForkForm, type Fork } from "./fork-form.js";
import { isTelling, nameOf, openEffects } from "./replay-words.js";

interface RunPlayerProps {
  /** A file that was played. */
  opened: { name: string; replay: Replay };
  setup: Setup;
  tools: { readonly [name: string]: Tool };
  save(): void;
  fork(fork: Fork): void;
}

export function RunPlayer({ opened: { name, replay }, setup, tools, save, fork }: RunPlayerProps) {
  const { steps, lost } = replay;
  const [index, setIndex] = useState(steps.length - 1);
  const [isEvery, setEvery] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const slider = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => slider.current?.focus(), []);
  const isShown = (step: ReplayStep, at: number) => isEvery || at === steps.length - 1 || isTelling(step);
  /** Indexes of the steps that the buttons and the list go through. */
  const ways = steps.flatMap((step, at) => (isShown(step, at) ? [at] : []));
  const at = Math.max(0, ways.filter((way) => way <= index).length - 1);
  const here = ways[at] ?? 0;
  const step = steps[here];
  useEffect(() => void list.current?.children[at]?.scrollIntoView({ block: "nearest" }), [at, isEvery]);
  const go = (to: number) => setIndex(ways[Math.min(Math.max(0, to), ways.length - 1)] ?? 0);
  if (!step) return null;
  const moment = momentAt(replay, here);
  const copy = async () => {
    await navigator.clipboard.writeText(testFile(name));
    setCopied(true);
  };
  const place = `${here + 1} of ${steps.length}: ${nameOf(step)}`;
  return (
    <div className="player">
      {lost !== undefined && (
        <Notice kind="error" text="looplet itself failed in the last step.">
          <pre tabIndex={0}>{lost}</pre>
        </Notice>
      )}
      <div className="player-bar">
        <button type="button" className="small" disabled={at === 0} onClick={() => go(at - 1)}>
          Back
        </button>
        <input
          type="range"
          min={0}
          max={ways.length - 1}
          value={at}
          aria-label="Step"
          aria-valuetext={place}
          ref={slider}
          onChange={({ target }) => go(Number(target.value))}
        />
        <button type="button" className="small" disabled={at >= ways.length - 1} onClick={() => go(at + 1)}>
          Forward
        </button>
        <label className="check">
          <input type="checkbox" checked={isEvery} onChange={({ target }) => setEvery(target.checked)} />
          <span>Every input</span>
        </label>
      </div>
      <p className="place" role="status">
        Step {place}
      </p>
      <div className="player-columns">
        <ol className="steps" tabIndex={0} aria-label="Steps" ref={list}>
          {ways.map((way, place) => (
            <li key={way}>
              <button
                type="button"
                className="ghost small"
                tabIndex={-1}
                aria-current={place === at ? "step" : undefined}
                onClick={() => setIndex(way)}
              >
                <span className="seq">{way + 1}</span>
                <span>{nameOf(steps[way]!)}</span>
              </button>
            </li>
          ))}
        </ol>
        <section className="happening" aria-label="This step" tabIndex={0}>
          <Happening step={step} />
        </section>
        <section className="moment" aria-label="State behind this step" tabIndex={0}>
          {typeof moment === "string" ? (
            <p className="quiet">{moment}</p>
          ) : (
            <Moment key={here} moment={moment} steps={steps.slice(0, here + 1)} />
          )}
        </section>
      </div>
      <ForkForm
        step={here}
        canFork={typeof moment !== "string" && moment.journal.length > 0}
        {...{ setup, tools, fork }}
      />
      <p className="actions">
        <button type="button" className="small" onClick={() => void copy()}>
          Copy as test
        </button>
        <button type="button" className="small" onClick={save}>
          Save the file
        </button>
        <span className="quiet" role="status">
          {isCopied && `Copied. Save the file as ${name} beside the test.`}
        </span>
      </p>
    </div>
  );
}

/** The state behind a step, or why there is none: in that step looplet was lost. */
function momentAt(replay: Replay, index: number): ReplayMoment | string {
  try {
    return replay.at(index);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function Happening({ step }: { step: ReplayStep }) {
  const { input, events, requests, calls, questions, entries } = step;
  const { input: told } = input;
  const came =
    "json" in told
      ? told.json
      : "text" in told
        ? told.text.text
        : `${told.bytes.base64.length} characters of base64`;
  return (
    <>
      <h3>Came in</h3>
      <pre tabIndex={0}>{shown(came)}</pre>
      <Items title="Events" items={events} name={({ type }) => type} />
      <Items title="Requests" items={requests} name={({ method, url }) => `${method} ${url}`} />
      <Items title="Calls" items={calls} name={({ toolName }) => toolName} />
      <Items title="Questions" items={questions} name={({ point }) => point} />
      <Items title="Entries of the journal" items={entries} name={({ seq }) => `Entry ${seq}`} />
    </>
  );
}

interface ItemsProps<Item> {
  title: string;
  items: readonly Item[];
  name(item: Item): string;
}

/** A list whose items open to their JSON. */
function Items<Item>({ title, items, name }: ItemsProps<Item>) {
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {items.map((item, at) => (
        <details key={at} className="item">
          <summary>{name(item)}</summary>
          <pre tabIndex={0}>{JSON.stringify(item, null, 2)}</pre>
        </details>
      ))}
    </>
  );
}

/** Nothing in a replay waits for a person. */
const noActions = { schemaOf: () => undefined, answer: () => {} };

function Moment({ moment, steps }: { moment: ReplayMoment; steps: readonly ReplayStep[] }) {
  const { messages, usage, iterations, outcome, text, toolCalls } = moment;
  const facts = [
    outcome ?? "at work",
    counted(iterations, "iteration"),
    usage === null ? "no usage yet" : `${counted(usage.inputTokens, "token")} in, ${usage.outputTokens} out`,
    usage?.costNanoUsd == null ? "" : cost(usage.costNanoUsd / 1e9),
  ].filter(Boolean);
  const open = openEffects(moment, steps);
  return (
    <>
      <p className="facts">
        {facts.map((fact) => (
          <span key={fact} className="badge">
            {fact}
          </span>
        ))}
      </p>
      {open.lines.length > 0 && (
        <>
          <h3>Open</h3>
          <ul className="open-effects">
            {open.lines.map((line, at) => (
              <li key={at}>{line}</li>
            ))}
          </ul>
        </>
      )}
      <h3>Messages ({messages.length})</h3>
      <div className="transcript">
        {viewOf(messages).messages.flatMap(({ role, parts }, at) =>
          role === "user"
            ? parts.map(
                (part, index) => part.type === "text" && <Bubble key={`${at}.${index}`} text={part.text} />,
              )
            : [<Parts key={at} parts={parts} actions={noActions} />],
        )}
      </div>
      {open.requests > 0 && text !== "" && (
        <>
          <h3>The answer so far</h3>
          <p className="quiet">{text}</p>
        </>
      )}
      {toolCalls.length === 0 && messages.length === 0 && <p className="quiet">Nothing is said yet.</p>}
    </>
  );
}
