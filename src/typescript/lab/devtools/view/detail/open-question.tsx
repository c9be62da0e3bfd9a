/** @jsxImportSource preact */
/** A question of the run that is open, and the answers that devtools can give. */
import { useState } from "preact/hooks";
import type { QuestionAnswer } from "../../../../core/api/index.js";
import { isObject } from "../../../../core/kit/check.js";
import type { QuestionEvent } from "../../model/budgets.js";
import { problemOf } from "../../model/opened-run.js";

interface OpenQuestionProps {
  question: QuestionEvent;
  /** Undefined if devtools cannot answer. Rejects with the reason why an answer is not taken. */
  answer: ((answer: QuestionAnswer) => Promise<void>) | undefined;
}

export function OpenQuestion({ question, answer }: OpenQuestionProps) {
  const { question: kind, data, agentPath } = question;
  const who = agentPath === "root" ? "" : ` (${agentPath})`;
  return (
    <>
      A question waits: {kind}
      {data !== undefined && ` of ${data.toolName}`}
      {who}
      {data !== undefined && "input" in data && <pre tabIndex={0}>{JSON.stringify(data.input, null, 2)}</pre>}
      {data !== undefined && "request" in data && (
        <>
          <p class="text">{data.request.message}</p>
          {data.request.url !== undefined && <p class="text">{data.request.url}</p>}
          {data.request.requestedSchema !== undefined && (
            <pre tabIndex={0}>{JSON.stringify(data.request.requestedSchema, null, 2)}</pre>
          )}
        </>
      )}
      {answer !== undefined && <Answers question={question} answer={answer} />}
    </>
  );
}

/** The answers that need nothing more, by the kind of the question. */
const CHOICES: { readonly [kind: string]: { readonly [name: string]: QuestionAnswer } } = {
  permission: {
    Allow: { behavior: "allow" },
    Deny: { behavior: "deny", message: "Denied in devtools." },
  },
  reconcile: {
    "Run it again": { outcome: "run" },
    "It failed": { outcome: "fail", message: "Left undone in devtools." },
  },
  elicitation: { Decline: { action: "decline" }, Cancel: { action: "cancel" } },
};

interface AnswersProps {
  question: QuestionEvent;
  answer(answer: QuestionAnswer): Promise<void>;
}

function Answers({ question, answer }: AnswersProps) {
  const [problem, setProblem] = useState("");
  const [text, setText] = useState(() => JSON.stringify(draftOf(question), null, 2));
  const send = async (given: () => QuestionAnswer): Promise<void> => {
    try {
      setProblem("");
      await answer(given());
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <>
      <span class="actions">
        {Object.entries(CHOICES[question.question] ?? {}).map(([name, given]) => (
          <button key={name} type="button" onClick={() => void send(() => given)}>
            {name}
          </button>
        ))}
        <span role="alert">{problem}</span>
      </span>
      <details open={question.question === "elicitation"}>
        <summary>Another answer</summary>
        <label class="field">
          <span>Answer, as JSON</span>
          <textarea rows={4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <button type="button" onClick={() => void send(() => answerIn(text))}>
          Send this answer
        </button>
      </details>
    </>
  );
}

/** The answer that the user wrote. `run.answer` checks its fields. */
function answerIn(text: string): QuestionAnswer {
  try {
    return JSON.parse(text) as QuestionAnswer;
  } catch (error) {
    throw new Error(`The answer is not valid JSON: ${problemOf(error)}`);
  }
}

/** An answer to begin with: the call with its input, an output, or the fields of the form. */
function draftOf({ question, data }: QuestionEvent): QuestionAnswer {
  if (question === "reconcile") return { outcome: "done", output: "" };
  if (data !== undefined && "request" in data) {
    const { requestedSchema } = data.request;
    return requestedSchema === undefined
      ? { action: "accept" }
      : { action: "accept", content: valuesOf(requestedSchema["properties"]) };
  }
  const input = data !== undefined && "input" in data ? data.input : undefined;
  // A text in the place of a key must not become the input.
  const isWhole = isObject(input) && !JSON.stringify(input).includes("**");
  return { behavior: "allow", ...(isWhole && { updatedInput: input }) };
}

/** A value for each field of a form: its default, its first choice, or an empty one. */
function valuesOf(properties: unknown): { [name: string]: unknown } {
  if (!isObject(properties)) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]));
}

const EMPTY: { readonly [type: string]: unknown } = { number: 0, integer: 0, boolean: false, array: [] };

function valueOf(schema: unknown): unknown {
  if (!isObject(schema)) return "";
  if ("default" in schema) return schema["default"];
  const { enum: choices, type } = schema;
  if (Array.isArray(choices)) return choices[0] as unknown;
  return typeof type === "string" && Object.hasOwn(EMPTY, type) ? EMPTY[type] : "";
}
