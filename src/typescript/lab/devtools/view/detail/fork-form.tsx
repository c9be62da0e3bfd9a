/** @jsxImportSource preact */
/** Continues a run from a step, with another result, prompt, model or option. */
import { useState } from "preact/hooks";
import type { LoopInput } from "../../../replay/loop-file.js";
import { isObject } from "../../../../core/kit/check.js";
import type { OfferedAgent } from "../../live/protocol.js";
import { problemOf } from "../../model/opened-run.js";
import { attempted } from "../../model/effects.js";
import { inputName } from "../../model/words.js";
import type { StepProps } from "./detail.js";
import { Problem } from "../problem.js";

/** Inputs that the user may change. */
const EDITABLE = ["prompt", "steer", "followUp", "toolFinished", "answered"];

export function ForkForm({ lab, run, step }: StepProps) {
  const agents = lab.agentsFor(run);
  const [chosen, choose] = useState(0);
  const [problem, setProblem] = useState("");
  const agent = agents[chosen] ?? agents[0];
  const { input } = run.steps[step]!.input;
  const editable = editableIn(input);
  if (agent === undefined) return <NoAgent />;
  const again = attempted(run.effects.all, step);
  // After the step in which it started it is in progress: a run that continues from there repeats it.
  const retry = async (from: number): Promise<void> => {
    try {
      await lab.fork({ run, step: from, agent: agent.name, changes: {} });
      setProblem("");
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(data.get(name) ?? "");
    try {
      const edited = editable === undefined ? undefined : editedInput(input, editable, text("input"));
      const [model, system, options] = [text("model").trim(), text("system"), text("options").trim()];
      const without = agent.tools.filter((name) => !data.has(`tool ${name}`));
      await lab.fork({
        run,
        step,
        input: edited,
        agent: agent.name,
        changes: {
          ...(model !== agent.model && { model }),
          ...(system !== agent.system && { system }),
          ...(without.length > 0 && { without }),
          ...(options !== "" && { options: optionsIn(options) }),
          ...(text("told").trim() !== "" && { told: text("told").trim() }),
        },
      });
      setProblem("");
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form class="fork" onSubmit={(event) => void send(event)}>
      {again !== undefined && (
        <p class="actions">
          <button type="button" onClick={() => void retry(again.from)}>
            Try {again.name} again
          </button>
          <span class="quiet">with the code that the agent has now, from step {again.from + 1}</span>
        </p>
      )}
      <p class="quiet">
        Another run continues from this step. Finished calls are not repeated. A question that was open is
        asked again.
      </p>
      {editable !== undefined && (
        <label class="field">
          <span>{inputName(run.steps[step]!)}, changed for the fork</span>
          <textarea name="input" rows={5} spellcheck={false} defaultValue={editable} />
        </label>
      )}
      {agents.length > 1 && (
        <label class="field">
          <span>Agent</span>
          <select value={chosen} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {agents.map(({ name }, at) => (
              <option key={at} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <AgentFields key={agent.name} agent={agent} />
      <Problem text={problem} />
      <p class="actions">
        <button type="submit" class="primary">
          Continue from here
        </button>
      </p>
    </form>
  );
}

function AgentFields({ agent }: { agent: OfferedAgent }) {
  return (
    <>
      <label class="field">
        <span>Model</span>
        <input name="model" defaultValue={agent.model} spellcheck={false} required />
      </label>
      <label class="field">
        <span>System prompt</span>
        <textarea name="system" rows={3} defaultValue={agent.system} />
      </label>
      {agent.tools.length > 0 && (
        <fieldset>
          <legend>Tools</legend>
          {agent.tools.map((name) => (
            <label key={name} class="check">
              <input type="checkbox" name={`tool ${name}`} defaultChecked />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
      )}
      <label class="field">
        <span>Other options of the agent, as JSON</span>
        <textarea
          name="options"
          rows={2}
          spellcheck={false}
          placeholder='{ "limits": { "maxIterations": 5 } }'
        />
      </label>
      <label class="field">
        <span>Message to the model</span>
        <input name="told" placeholder="The model gets it with its next request" />
      </label>
    </>
  );
}

function NoAgent() {
  return (
    <>
      <p>No agent is available to continue this run.</p>
      <p class="quiet">
        Offer agents of this page by <code>devtools.agents = {"{ support: agent }"}</code>, or those of a
        publisher by <code>publisher.offer({"{ support: agent }"})</code>.
      </p>
    </>
  );
}

/** The editable part of an input, as JSON. */
function editableIn(input: LoopInput["input"]): string | undefined {
  const facts = factsIn(input);
  return facts === undefined ? undefined : JSON.stringify(facts.facts, null, 2);
}

function factsIn(input: LoopInput["input"]): { name: string; facts: unknown } | undefined {
  if (!("json" in input) || !isObject(input.json)) return undefined;
  const [name = ""] = Object.keys(input.json);
  return EDITABLE.includes(name) ? { name, facts: input.json[name] } : undefined;
}

/** The changed input; undefined if it was not changed. */
function editedInput(
  input: LoopInput["input"],
  before: string,
  told: string,
): LoopInput["input"] | undefined {
  if (told === before) return undefined;
  const { name } = factsIn(input)!;
  try {
    return { json: { [name]: JSON.parse(told) as unknown } };
  } catch (error) {
    throw new Error(`The changed input is not valid JSON: ${problemOf(error)}`);
  }
}

function optionsIn(text: string): { [name: string]: unknown } {
  let options: unknown;
  try {
    options = JSON.parse(text);
  } catch (error) {
    throw new Error(`The options are not valid JSON: ${problemOf(error)}`);
  }
  if (isObject(options) && !Array.isArray(options)) return options;
  throw new Error('The options need to be an object: { "limits": { "maxIterations": 5 } }.');
}
