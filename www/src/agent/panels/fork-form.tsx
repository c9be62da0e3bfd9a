/** The form below a step: a fork of the run, with another model or system prompt, other or fewer tools. */
import type { Tool } from "looplet";
import { useState, type FormEvent, type ReactNode } from "react";
import { system as ownSystem } from "../../../../examples/tools/index.mjs";
import { choicesOf, modelNameOf, type Connection } from "../../words/connection.js";
import { explainThrown } from "../../words/failure.js";
import type { Changes } from "../kept.js";
import type { Setup } from "../session.js";

/** A fork as a person wants it. */
export interface Fork extends Required<Changes> {
  /** An index of the steps. */
  step: number;
  connection: Connection;
  /** A message that the model gets with its next request; may be empty. */
  told: string;
}

interface ForkFormProps {
  step: number;
  /** There is a journal to go on from. */
  canFork: boolean;
  setup: Setup;
  tools: { readonly [name: string]: Tool };
  /** Throws a `LoopletError` for options that do not fit. */
  fork(fork: Fork): void;
}

export function ForkForm({ step, canFork, setup, tools, fork }: ForkFormProps) {
  const [problem, setProblem] = useState<{ step: number; details: string }>();
  const choices = choicesOf(setup.connection);
  const names = Object.keys(tools);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    try {
      fork({
        step,
        connection: choices[Number(text("model"))]!,
        system: String(data.get("system")),
        without: names.filter((name) => !data.has(`tool ${name}`)),
        descriptions: Object.fromEntries(names.map((name) => [name, text(`about ${name}`)])),
        told: text("told"),
      });
    } catch (error) {
      setProblem({ step, details: explainThrown(error).details });
    }
  };
  return (
    <details className="fork">
      <summary>Fork the run at this step</summary>
      <form className="fork-body" onSubmit={send}>
        <Field label="Model">
          <select
            name="model"
            defaultValue={choices.findIndex(
              (choice) => modelNameOf(choice) === modelNameOf(setup.connection),
            )}
          >
            {choices.map((choice, at) => (
              <option key={at} value={at}>
                {modelNameOf(choice)}
              </option>
            ))}
          </select>
        </Field>
        <Field label="System prompt">
          <textarea name="system" rows={3} defaultValue={setup.system ?? ownSystem} />
        </Field>
        <Field label="Tell it">
          <input type="text" name="told" placeholder="Optional: the model gets it with its next request" />
        </Field>
        <fieldset className="fork-tools">
          <legend>Tools</legend>
          {names.map((name) => (
            <div key={name} className="fork-tool">
              <label className="check">
                <input
                  type="checkbox"
                  name={`tool ${name}`}
                  defaultChecked={!setup.without?.includes(name)}
                />
                <span>{name}</span>
              </label>
              <input
                type="text"
                name={`about ${name}`}
                aria-label={`What the model is told about ${name}`}
                defaultValue={setup.descriptions?.[name] ?? tools[name]?.description ?? ""}
              />
            </div>
          ))}
        </fieldset>
        <p className="quiet">
          Calls that were done are not made again. The chat of this page gives way to the fork.
        </p>
        <div className="form-error" role="alert">
          {problem?.step === step && <p>{problem.details}</p>}
        </div>
        <p className="actions">
          <button
            type="submit"
            className="primary"
            disabled={!canFork}
            title={canFork ? "" : "Nothing of the run is saved at this step yet"}
          >
            Go on from here
          </button>
        </p>
      </form>
    </details>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label className="field">
      <span>{label}</span>
      {children}
    </label>
  );
}
