/** A tool call that waits for the user. */
import type { PermissionResult, Reconciliation } from "looplet";
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { mismatch } from "../words/schema.js";
import { Icon } from "./icon.js";

export interface PermissionQuestion {
  readonly toolName: string;
  readonly input?: unknown;
  readonly reason?: string | undefined;
}

/** Focuses the first call that waits. Returns false if there is none. */
export function review(): boolean {
  const asking = document.querySelector<HTMLElement>(".approval");
  asking?.closest(".tool")?.scrollIntoView({ block: "nearest" });
  asking?.querySelector<HTMLElement>("button.primary, textarea, input")?.focus();
  return asking !== null;
}

interface AskingProps {
  label: string;
  question: string;
  why?: string;
  children: ReactNode;
  keyDown?: (event: KeyboardEvent) => void;
}

/** A question in a card. The keyboard moves on when it is answered. */
export function Asking({ label, question, why, children, keyDown }: AskingProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = element;
    return () => {
      // The focus moves to the next call that waits, or to the field.
      if (!current?.contains(document.activeElement)) return;
      queueMicrotask(() => review() || document.getElementById("prompt")?.focus());
    };
  }, []);
  return (
    <div className="approval" role="group" aria-label={label} ref={element} onKeyDown={keyDown}>
      <p className="asks">
        {question} {why && <span className="quiet">{why}</span>}
      </p>
      {children}
    </div>
  );
}

interface ApprovalProps {
  question: PermissionQuestion;
  /** JSON Schema of the tool's input, if the page knows it. */
  schema: unknown;
  answer: (result: PermissionResult) => void;
}

/** May the call run? The user allows it, changes its input, or denies it with a reason for the model. */
export function Approval({ question: { toolName, input, reason }, schema, answer }: ApprovalProps) {
  const [step, setStep] = useState<"fresh" | "input" | "reason" | "back">("fresh");
  const [isAlways, setAlways] = useState(false);
  const allow = (more: { updatedInput?: unknown } = {}) => {
    const rule = { type: "addRules", behavior: "allow", rules: [toolName] } as const;
    answer({
      behavior: "allow",
      ...more,
      ...(isAlways && { updatedPermissions: [rule] }),
    } as PermissionResult);
  };
  const back = () => setStep("back");
  // Escape leaves what is being written, not the run.
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || (step !== "input" && step !== "reason")) return;
    event.stopPropagation();
    back();
  };
  return (
    <Asking
      label={`Approval of ${toolName}`}
      question="May this run?"
      why={`Reason: ${reason}.`}
      keyDown={leave}
    >
      {step === "input" && <InputEditor {...{ toolName, input, schema, back, allow }} />}
      {step === "reason" && (
        <Reason toolName={toolName} back={back} deny={(message) => answer({ behavior: "deny", message })} />
      )}
      {(step === "fresh" || step === "back") && (
        <div className="choice">
          <button type="button" className="small primary" autoFocus={step === "back"} onClick={() => allow()}>
            <Icon name="check" />
            Allow
          </button>
          <button type="button" className="small" onClick={() => setStep("input")}>
            <Icon name="pen" />
            Edit
          </button>
          <button type="button" className="small" onClick={() => setStep("reason")}>
            <Icon name="close" />
            Deny
          </button>
          <label className="always">
            <input type="checkbox" checked={isAlways} onChange={({ target }) => setAlways(target.checked)} />
            <span>Always allow {toolName}</span>
          </label>
        </div>
      )}
    </Asking>
  );
}

interface InputEditorProps {
  toolName: string;
  input: unknown;
  schema: unknown;
  back(): void;
  allow(more: { updatedInput: unknown }): void;
}

function InputEditor({ toolName, input, schema, back, allow }: InputEditorProps) {
  const [text, setText] = useState(typeof input === "string" ? input : JSON.stringify(input, null, 2));
  const [isChecked, setChecked] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const note = useId();
  const { value, problem } = readInput(text, schema);
  const fault = isChecked ? problem : undefined;
  const run = () => {
    // A resolved problem is not announced again before the next attempt.
    setChecked(problem !== undefined);
    if (value === undefined) field.current?.focus();
    else allow({ updatedInput: value });
  };
  return (
    <div className="writing">
      <textarea
        ref={field}
        autoFocus
        aria-label={`Input for ${toolName}, as JSON`}
        aria-describedby={note}
        aria-invalid={isChecked ? fault !== undefined : undefined}
        rows={Math.min(12, Math.max(3, text.split("\n").length))}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          run();
        }}
      />
      <p className={`note ${fault === undefined ? "quiet" : "fault"}`} id={note} aria-live="polite">
        {fault ?? "The tool receives this input. The conversation keeps the input that the model wrote."}
      </p>
      <div className="choice">
        <button type="button" className="small primary" onClick={run}>
          <Icon name="check" />
          Run with this
        </button>
        <button type="button" className="small ghost" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

/** Parses `text` as an object, or returns what is wrong with it. */
function readInput(text: string, schema: unknown): { value?: object; problem?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `This is not valid JSON: ${why.replace(/\.?$/, ".")}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: "The input of a tool is a JSON object, like { … }." };
  const problem = mismatch(schema, value);
  return problem === undefined ? { value } : { problem };
}

function Reason({ toolName, back, deny }: { toolName: string; back(): void; deny(message: string): void }) {
  const [text, setText] = useState("");
  const done = () => deny(text.trim() === "" ? "The user said no." : text.trim());
  return (
    <div className="writing">
      <input
        type="text"
        autoFocus
        aria-label={`Why ${toolName} is denied`}
        placeholder="Reason for the model (optional)"
        maxLength={500}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          done();
        }}
      />
      <div className="choice">
        <button type="button" className="small stop" onClick={done}>
          <Icon name="close" />
          Deny
        </button>
        <button type="button" className="small ghost" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

const outcomes: readonly [label: string, kind: string, answer: Reconciliation][] = [
  ["Run it again", "small primary", { outcome: "run" }],
  ["It was done", "small", { outcome: "done", output: "The user says that it was done." }],
  ["Leave it", "small", { outcome: "fail", message: "The user left it undone." }],
];

/** A call that was running when the page closed: its outcome is unknown, so the user enters it. */
export function Reconcile({
  toolName,
  answer,
}: {
  toolName: string;
  answer: (result: Reconciliation) => void;
}) {
  return (
    <Asking
      label={`What happened to ${toolName}`}
      question="Was this done?"
      why="The page was closed while the call was running."
    >
      <div className="choice">
        {outcomes.map(([label, kind, result]) => (
          <button key={label} type="button" className={kind} onClick={() => answer(result)}>
            {label}
          </button>
        ))}
      </div>
    </Asking>
  );
}
