/** What the driver of a run has of the agent: its configuration, models, and functions that perform its outputs. */
import type { AgentParts } from "./agent-parts.js";
import type { Model } from "../api/model.js";
import { Asks } from "../hooks/asks.js";
import type { HostOutput } from "../host/driver.js";
import type { Driver } from "../host/engine.js";
import type { ModelList } from "../models/model-list.js";
import { StructuredOutput } from "../tools/structured-output.js";
import type { ToolCalls } from "../tools/tool-calls.js";

/** The run that is equipped. */
export interface EquippedRun {
  readonly tools: ToolCalls;
  /** The driver while the run is under way. */
  readonly running: () => Driver | undefined;
  readonly fence: () => number | undefined;
  readonly report: (error: unknown) => void;
}

export class Equipment {
  readonly models: ModelList;
  readonly output: StructuredOutput;
  readonly asks: Asks;

  /** `before` is the equipment in whose place this one comes. */
  constructor(
    readonly parts: AgentParts,
    readonly config: string,
    private readonly run: EquippedRun,
    before?: Equipment,
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
    this.asks = new Asks(asked, run.running, before?.asks);
  }

  /** Performs an output of the engine with the tools and your functions. */
  perform(output: HostOutput): void {
    const { asks } = this;
    const { tools } = this.run;
    if ("callTool" in output) tools.call(output.callTool);
    else if ("answerTool" in output) {
      const { call, number, answer } = output.answerTool;
      tools.answer(call, number, answer);
    } else if ("abortTool" in output) tools.abort(output.abortTool.call, output.abortTool.why);
    else if ("ask" in output) asks.ask(output.ask.question, output.ask.ask);
    else asks.withdraw(output.withdraw.question, output.withdraw.why);
  }
}
