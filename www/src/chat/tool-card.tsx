/**
 * One tool call: its arguments as they are written, its progress, its result or error, and its time; and what the
 * agent does that answers it.
 */
import { diffLines } from "diff";
import type { Answers, OpenQuestion, ToolUiPart } from "looplet/ui";
import { memo, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { duration, shown } from "../words/amount.js";
import { Approval, Reconcile } from "./approval.js";
import { Form } from "./form.js";
import { Icon } from "./icon.js";

const states = {
  writing: { label: "writing arguments", icon: "spinner" },
  waiting: { label: "called", icon: "spinner" },
  asking: { label: "needs your approval", icon: "shield" },
  form: { label: "asks you", icon: "pen" },
  running: { label: "running", icon: "spinner" },
  done: { label: "done", icon: "check" },
  denied: { label: "denied", icon: "close" },
  failed: { label: "failed", icon: "alert" },
  unfinished: { label: "not finished", icon: "stop" },
} as const;

/** Contract: user actions for a call. */
export interface CallActions {
  /** JSON Schema of a tool's input; `undefined` for one that is not the page's. */
  schemaOf(toolName: string): unknown;
  answer(question: OpenQuestion, answer: Answers[keyof Answers]): void;
}

interface ToolCardProps {
  part: ToolUiPart;
  actions: CallActions;
  /** What the agent that answers the call says and does. */
  children?: ReactNode;
}

/** A card that is taller than this when its call has been answered folds to one line. */
const maxOpenPx = 320;

export const ToolCard = memo(function ToolCard({ part, actions, children }: ToolCardProps) {
  const { toolName, question, input, inputText, progress, output, error, durationMs } = part;
  const state = stateOf(part);
  const { label, icon } = states[state];
  const card = useRef<HTMLElement>(null);
  const details = useRef<HTMLDetailsElement>(null);
  /** Whether the user has opened or folded the card. Then it stays so. */
  const isTouched = useRef(false);
  const [edit, setEdit] = useState<{ before: unknown; after: unknown }>();
  useLayoutEffect(() => {
    const isTall = (card.current?.offsetHeight ?? 0) > maxOpenPx;
    if (state === "done" && isTall && !isTouched.current && details.current) details.current.open = false;
  }, [state]);
  const answer = (result: Answers[keyof Answers]) => {
    if ("updatedInput" in result && result.updatedInput !== undefined)
      setEdit({ before: input, after: result.updatedInput });
    actions.answer(question!, result);
  };
  const isFault = state === "failed" && error !== undefined;
  return (
    <article
      className={`tool ${children ? "delegating" : ""}`}
      aria-label={`Tool call ${toolName}`}
      data-state={state}
      ref={card}
    >
      <details className="card" open ref={details}>
        <summary onClick={() => (isTouched.current = true)}>
          <span className="state">
            <Icon name={icon} />
            <span className="label">
              {durationMs === undefined ? label : `${label} · ${duration(durationMs)}`}
            </span>
          </span>
          <span className="name">{toolName}</span>
          <code className="brief">{input === undefined ? "" : brief(edit?.after ?? input)}</code>
        </summary>
        <div className="card-body">
          <p className="part-label">{edit ? "Arguments, as you edited them" : "Arguments"}</p>
          <pre className="input" tabIndex={0} aria-label="Arguments">
            {edit ? <ChangedLines {...edit} /> : input === undefined ? inputText : shown(input)}
          </pre>
          {children && (
            <>
              <p className="part-label">Agent {toolName}</p>
              <div className="subagent" role="group" aria-label={`Agent ${toolName}`}>
                {children}
              </div>
            </>
          )}
          {progress !== undefined && <Progress data={progress} />}
          {state === "done" && (
            <>
              <p className="part-label">Result</p>
              <pre className="output" tabIndex={0} aria-label="Result">
                {shown(output)}
              </pre>
            </>
          )}
          {isFault && (
            <>
              <p className="part-label">Error</p>
              <p className="fault">
                <code>{error.code}</code> {error.message}
              </p>
              {error.hint && <p className="quiet">Told to the model: {error.hint}</p>}
            </>
          )}
          {state === "denied" && (
            <>
              <p className="part-label">Sent to the model</p>
              <p className="quiet">{error?.message}</p>
            </>
          )}
        </div>
      </details>
      {question?.kind === "permission" && (
        <Approval question={question} schema={actions.schemaOf(toolName)} answer={answer} />
      )}
      {question?.kind === "reconcile" && <Reconcile toolName={toolName} answer={answer} />}
      {question?.kind === "elicitation" && (
        <Form toolName={toolName} request={question.request} answer={answer} />
      )}
    </article>
  );
});

function stateOf({ state, question, progress, agent, error }: ToolUiPart): keyof typeof states {
  if (state === "output-available") return "done";
  if (state === "output-denied") return "denied";
  // Nothing is wrong with a call that was never made or that the user stopped.
  if (state === "output-error")
    return error?.code === "cancelled" || error?.code === "not_run" ? "unfinished" : "failed";
  if (question !== undefined) return question.kind === "elicitation" ? "form" : "asking";
  if (state === "input-streaming") return "writing";
  return progress === undefined && agent === undefined ? "waiting" : "running";
}

/** The changes of a value, line by line of its JSON: removed lines are struck out, added lines are marked. */
function ChangedLines({ before, after }: { before: unknown; after: unknown }) {
  const lines = (value: unknown) => `${typeof value === "string" ? value : JSON.stringify(value, null, 2)}\n`;
  return diffLines(lines(before), lines(after)).map(({ added, removed, value }, at) => {
    const Tag = added ? "ins" : removed ? "del" : "span";
    return <Tag key={at}>{value}</Tag>;
  });
}

function Progress({ data }: { data: unknown }) {
  const { done, total, ...rest } = Object(data) as Record<string, unknown>;
  const isCounted = typeof data === "object" && data !== null;
  const steps = total === undefined ? shown(done ?? "") : `${shown(done)} of ${shown(total)}`;
  const more = Object.entries(rest).map(([name, value]) => `${name}: ${shown(value)}`);
  return (
    <div className="progress">
      <progress
        aria-label="Progress"
        max={typeof total === "number" ? total : 1}
        value={typeof done === "number" ? done : undefined}
      />
      <span className="quiet">{isCounted ? [steps, ...more].filter(Boolean).join(" · ") : shown(data)}</span>
    </div>
  );
}

function brief(input: unknown): string {
  if (typeof input !== "object" || input === null) return shown(input);
  return Object.values(input)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(", ");
}
