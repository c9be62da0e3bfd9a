/** @jsxImportSource preact */
/** The state of the run after a step: budgets, what is open, and the messages. */
import { useEffect, useState } from "preact/hooks";
import type { Message } from "../../../../core/api/index.js";
import type { ReplayMoment } from "../../../replay/playback.js";
import { budgetsAt, openQuestions, type Budget } from "../../model/budgets.js";
import { openAt } from "../../model/effects.js";
import type { OpenedRun } from "../../model/opened-run.js";
import type { StepProps } from "./detail.js";
import { OpenQuestion } from "./open-question.js";

/** Messages that are shown at first, and that are added at a time. */
const SHOWN = 40;

export function StateView({ lab, run, step }: StepProps) {
  const moment = useMoment(run, step);
  if (moment === undefined) return <p class="quiet">…</p>;
  if (typeof moment === "string") return <p class="quiet">{moment}</p>;
  const questions = openQuestions(run.steps, step);
  const isLast = step === run.steps.length - 1;
  const canAnswer = isLast && lab.canAnswer(run);
  const working = openAt(run.effects.all, step).filter(({ kind }) => kind !== "question");
  return (
    <>
      <Budgets budgets={budgetsAt(run.playback.processOf(step).process, moment)} />
      {working.length + questions.length > 0 && (
        <>
          <h3>Open</h3>
          <ul>
            {working.map(({ kind, name }, at) => (
              <li key={at}>
                {kind === "model"
                  ? `A request to ${name}`
                  : kind === "wait"
                    ? `A wait for ${name}`
                    : `${name} has no result yet`}
              </li>
            ))}
            {questions.map((question) => (
              <li key={question.questionId}>
                <OpenQuestion
                  question={question}
                  answer={canAnswer ? (answer) => lab.answer(run, question.questionId, answer) : undefined}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      {isLast && run.outcome === undefined && run.facts.from !== undefined && (
        <button type="button" onClick={() => void lab.abort(run).catch(() => {})}>
          Abort this run
        </button>
      )}
      <Messages
        messages={moment.messages}
        text={working.some(({ kind }) => kind === "model") ? moment.text : ""}
      />
    </>
  );
}

/** The state after a step, computed when the page is idle. Until then the previous one is shown. */
function useMoment(run: OpenedRun, step: number): ReplayMoment | string | undefined {
  const [moment, setMoment] = useState<ReplayMoment | string>();
  const { length } = run.steps;
  useEffect(() => {
    const timer = setTimeout(() => setMoment(run.moment(step)), 0);
    return () => clearTimeout(timer);
  }, [run, step, length]);
  return moment;
}

function Budgets({ budgets }: { budgets: readonly Budget[] }) {
  return (
    <dl class="budgets">
      {budgets.map(({ name, used, limit, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {used === undefined ? "unknown" : text(used)}
            {limit !== undefined && ` of ${text(limit)}`}
            {used !== undefined && limit !== undefined && (
              <meter min={0} max={limit} value={used} aria-label={name} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Messages({ messages, text }: { messages: readonly Message[]; text: string }) {
  const [count, setCount] = useState(SHOWN);
  const first = Math.max(0, messages.length - count);
  return (
    <>
      <h3>Messages ({messages.length})</h3>
      {first > 0 && (
        <button type="button" onClick={() => setCount(count + SHOWN)}>
          Show {Math.min(SHOWN, first)} earlier ones
        </button>
      )}
      <ol class="messages" start={first + 1}>
        {messages.slice(first).map(({ role, content }, at) => (
          <li key={first + at} class={role}>
            <span class="role">{role}</span>
            {content.map((block, index) => (
              <Block key={index} block={block} />
            ))}
          </li>
        ))}
      </ol>
      {text !== "" && (
        <>
          <h3>The answer so far</h3>
          <p class="text">{text}</p>
        </>
      )}
    </>
  );
}

/** Characters of a block that are shown before the user expands it. */
const MAX_SHOWN = 1200;

function Block({ block }: { block: Message["content"][number] }) {
  switch (block.type) {
    case "text":
      return <Text text={block.text} />;
    case "tool_call":
      return <Folded title={`calls ${block.name}`} value={block.input} isOpen />;
    case "tool_result":
      return (
        <Folded
          title={block.isError === true ? "error of the tool" : "result"}
          value={plain(block.content)}
          isOpen
        />
      );
    default:
      return <Folded title={block.type} value={block} />;
  }
}

/** A result that is one text as that text. */
function plain(content: Message["content"]): unknown {
  const [first] = content;
  return content.length === 1 && first?.type === "text" ? first.text : content;
}

function Text({ text }: { text: string }) {
  const [isWhole, showWhole] = useState(false);
  if (isWhole || text.length <= MAX_SHOWN) return <p class="text">{text}</p>;
  return (
    <p class="text">
      {text.slice(0, MAX_SHOWN)}…{" "}
      <button type="button" onClick={() => showWhole(true)}>
        All {text.length} characters
      </button>
    </p>
  );
}

function Folded({ title, value, isOpen = false }: { title: string; value: unknown; isOpen?: boolean }) {
  const json = typeof value === "string" ? value : (JSON.stringify(value, null, 1) ?? "");
  const isShort = json.length <= MAX_SHOWN;
  return (
    <details open={isOpen && isShort}>
      <summary>{title}</summary>
      <pre tabIndex={0}>{json}</pre>
    </details>
  );
}
