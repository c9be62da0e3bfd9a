/** What the driver of a run needs of the agent: its configuration, its models, and functions that perform outputs. */
import type { AgentParts } from "./agent-parts.js";
import type { Model } from "../api/model.js";
import { Questions } from "../hooks/questions.js";
import type { HostOutput } from "../host/driver.js";
import type { Driver } from "../host/engine.js";
import type { ModelList } from "../models/model-list.js";
import { StructuredOutput } from "../tools/structured-output.js";
import type { ToolCalls } from "../tools/tool-calls.js";

/** What the dependencies need of their run. */
export interface RunHandles {
  readonly tools: ToolCalls;
  /** The driver while the run is under way. */
  readonly running: () => Driver | undefined;
  readonly fence: () => number | undefined;
  readonly report: (error: unknown) => void;
}

export class RunDependencies {
  readonly models: ModelList;
  readonly output: StructuredOutput;
  readonly questions: Questions;

  /** `before` are the dependencies that these replace. */
  constructor(
    readonly parts: AgentParts,
    readonly config: string,
    private readonly run: RunHandles,
    before?: RunDependencies,
  ) {
    this.models = parts.models.copy();
    this.output = new StructuredOutput(parts.profiles);
    const asked = {
      ...parts,
      ...run,
      output: this.output,
      takeModel: async (model: Model, field: string) => ({
        ...this.models.add(model, field, parts.tools),
        ...parts.asked,
      }),
    };
    this.questions = new Questions(asked, run.running, before?.questions);
  }

  /** Performs an output of the engine with the tools and your functions. */
  perform(output: HostOutput): void {
    const { questions } = this;
    const { tools } = this.run;
    if ("callTool" in output) tools.call(output.callTool);
    else if ("answerTool" in output) {
      const { call, number, answer } = output.answerTool;
      tools.answer(call, number, answer);
    } else if ("abortTool" in output) tools.abort(output.abortTool.call, output.abortTool.why);
    else if ("ask" in output) questions.ask(output.ask.question, output.ask.ask);
    else questions.withdraw(output.withdraw.question, output.withdraw.why);
  }
}
