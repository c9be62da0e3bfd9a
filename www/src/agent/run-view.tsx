/** One run in the transcript: its messages, the work of its agents, and a last line with its cost. */
import type { RunResult } from "looplet";
import type { UiMessage, UiPart } from "looplet/ui";
import { memo, type ReactNode } from "react";
import { Divider, Notice, Actions } from "../chat/notice.js";
import { Bubble, Parts } from "../chat/parts.js";
import { cost, counted, duration, tokens } from "../words/amount.js";
import { budgetOf, budgets, type BudgetName } from "../words/budget.js";
import { explain, type Explanation } from "../words/failure.js";
import { heldBack } from "../words/permission.js";
import type { Session } from "./session.js";
import { isUnanswered, type Line, type News, type ShownRun } from "./shown-run.js";

/** Contract: user actions for a run that is over. */
export interface RunActions {
  act(action: NonNullable<Explanation["action"]>): void;
  /** Continues with a larger budget, after it was used up. */
  continueRun(budget: BudgetName, amount: number): void;
  /** Carries out what plan mode held back. */
  carryOut(): void;
}

interface RunViewProps {
  run: ShownRun;
  /** Counts the runs of the conversation, from 1. */
  number: number;
  session: Session;
  actions: RunActions;
}

export const RunView = memo(function RunView({ run, number, session, actions }: RunViewProps) {
  const { messages } = run;
  // The run's last line, and news before its first text, are also part of an answer.
  const isBare = messages.at(-1)?.role === "user";
  const hasNews = run.lines.some(({ message }) => message === messages.length);
  const all: readonly UiMessage[] =
    isBare && (hasNews || run.result) ? [...messages, { id: "end", role: "assistant", parts: [] }] : messages;
  return all.map((message, at) => {
    const isLast = at === all.length - 1;
    if (message.role === "user") return <Asked key={at} run={run} message={message} at={at} />;
    return (
      // Busy until it is whole: a screen reader reads the answer once, not word by word.
      <section key={at} className="answer" aria-label="Answer" aria-busy={isLast && !run.result}>
        <Parts
          parts={message.parts}
          actions={session}
          linesAt={(agentPath, part, isEnd) => linesAt(run, at, agentPath, part, isEnd)}
        />
        {isLast && run.result && <End result={run.result} {...{ run, number, session, actions }} />}
      </section>
    );
  });
});

/** The prompt of the run, and the messages that were sent during it. */
function Asked({ run, message, at }: { run: ShownRun; message: UiMessage; at: number }) {
  return message.parts.map((part, index) => {
    if (part.type !== "text") return null;
    const kind = run.followUps.includes(part.text) ? "follow-up" : "steer";
    return <Bubble key={index} text={part.text} kind={at + index === 0 ? undefined : kind} />;
  });
}

function linesAt(
  { lines }: ShownRun,
  message: number,
  agentPath: string,
  part: number,
  isEnd: boolean,
): ReactNode[] {
  return lines.flatMap((line, at) => {
    const isHere = line.message === message && line.agentPath === agentPath;
    const isPlace = line.part === part || (isEnd && line.part > part);
    return isHere && isPlace ? [<NewsLine key={`line-${at}`} news={line.news} />] : [];
  });
}

function NewsLine({ news }: { news: Line["news"] }) {
  if (typeof news === "string") return <Notice kind="info" text={news} />;
  switch (news.type) {
    case "retry":
      return <Notice kind="warning" text={retryText(news)} />;
    case "warning":
      return <Notice kind="warning" text={news.message} />;
    case "handoff":
      return (
        <Divider icon="hand" text={news.to === "hand_back" ? "Handed back" : `Handed off to ${news.to}`} />
      );
    case "model-change": {
      const why = news.error ? ` (${explain(news.error).title.toLowerCase()})` : "";
      return <Divider icon="chip" text={`The model is now ${news.model}${why}`} />;
    }
    case "answer-cut-off":
      return (
        <Notice kind="info" text="This answer was cut off. The model writes it again.">
          {[news.reasoning, news.text].map(
            (words, at) =>
              words !== "" && (
                <p key={at} className="quiet cut-off">
                  {words}
                </p>
              ),
          )}
        </Notice>
      );
  }
}

function retryText({ error, delayMs, nextAttempt, maxAttempts }: News & { type: "retry" }): string {
  const again = `Trying again in ${duration(delayMs)} (attempt ${nextAttempt} of ${maxAttempts}).`;
  return `${explain(error).title}. ${again}`;
}

interface EndProps extends RunViewProps {
  result: RunResult;
}

/** Why the run ended, if not by an answer, and what it came to. */
function End({ result, run, number, session, actions }: EndProps) {
  return (
    <>
      <Ending {...{ result, run, number, session, actions }} />
      <Summary {...{ result, run, number }} />
    </>
  );
}

function Ending({ result, run, session, actions }: EndProps) {
  if (result.error) return <FailureNotice explanation={explain(result.error)} {...{ run, actions }} />;
  if (result.outcome === "cancelled") {
    const { abortReason } = result;
    const isPerson = abortReason === "stopped by the user";
    const end = isPerson ? "You stopped the run." : `The run was stopped: ${abortReason}.`;
    return <Notice kind="info" text={`${end} The text so far stays in the conversation.`} />;
  }
  if (result.outcome === "stopped") {
    const budget = budgetOf(result.stoppedBy);
    if (!budget)
      return (
        <Notice
          kind="warning"
          text={`The run was stopped (${result.stoppedBy}). Send a message to continue.`}
        />
      );
    // Twice as much as a run may use.
    const more = (session.getState().setup.limits[budget] ?? 0) * 2;
    return (
      <Notice
        kind="warning"
        text={`The budget of this run is used up: ${budgets[budget].label.toLowerCase()}.`}
      >
        <p className="quiet">
          The text so far stays in the conversation. The next run starts with a new budget.
        </p>
        <Actions
          of={[
            [`Continue with ${budgets[budget].describe(more)}`, () => actions.continueRun(budget, more)],
            ["Set the budgets", () => actions.act("connection")],
          ]}
        />
      </Notice>
    );
  }
  const held = run.messages.reduce((sum, { parts }) => sum + heldBackIn(parts), 0);
  if (held === 0) return null;
  return (
    <Notice
      kind="info"
      text={`Plan mode: ${held === 1 ? "one call was" : `${held} calls were`} held back. Nothing was changed.`}
    >
      <Actions of={[["Carry it out", () => actions.carryOut()]]} />
    </Notice>
  );
}

function heldBackIn(parts: readonly UiPart[]): number {
  return parts.reduce((sum, part) => {
    if (part.type !== "tool") return sum;
    const { message = "" } = part.error ?? {};
    return sum + Number(message.includes(heldBack)) + heldBackIn(part.agent?.parts ?? []);
  }, 0);
}

const labels = { retry: "Try again", connection: "Open the connection", "new-chat": "New chat" } as const;

interface FailureProps {
  explanation: Explanation;
  run: ShownRun;
  actions: RunActions;
}

function FailureNotice({ explanation: { title, advice, details, action }, run, actions }: FailureProps) {
  const rest = " The model does not see this prompt again unless you try it again.";
  const buttons = action && action !== "retry" ? [action, "retry" as const] : ["retry" as const];
  return (
    <Notice kind="error" text={title}>
      <p className="quiet">{advice + (isUnanswered(run) ? rest : "")}</p>
      <pre tabIndex={0}>{details}</pre>
      <Actions of={buttons.map((name) => [labels[name], () => actions.act(name)])} />
    </Notice>
  );
}

function Summary({ result, run, number }: Pick<EndProps, "result" | "run" | "number">) {
  const { outcome, usage, finishReason, rawFinishReason } = result;
  const { used, isCostKnown } = run.tally;
  const cache = usage?.cacheReadTokens ? ` (${tokens(usage.cacheReadTokens)} from cache)` : "";
  const reasoning = usage?.reasoningTokens ? ` (${tokens(usage.reasoningTokens)} reasoning)` : "";
  const facts = [
    counted(used.iterations, "iteration"),
    used.tool_calls ? counted(used.tool_calls, "tool call") : "",
    usage === null ? "tokens unknown" : `${counted(usage.inputTokens, "token")} in${cache}`,
    usage === null ? "" : `${tokens(usage.outputTokens)} out${reasoning}`,
    isCostKnown ? cost(used.usd) : "cost unknown",
    finishReason ? `finish: ${finishReason}` : "",
    duration(used.time * 1000),
  ].filter(Boolean);
  return (
    <footer className="summary" title={rawFinishReason ? `The vendor's word: ${rawFinishReason}` : undefined}>
      <span>Run {number}</span>
      <span className={`badge ${outcome}`}>{outcome}</span>
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </footer>
  );
}
