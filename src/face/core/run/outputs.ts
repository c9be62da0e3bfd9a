/** The outputs of the engine that a run performs with its tools and your functions. */
import type { Asks } from "../hooks/asks.js";
import type { HostOutput } from "../host/driver.js";
import type { ToolCalls } from "../tools/tool-calls.js";

/** Performs one. */
export function perform(output: HostOutput, tools: ToolCalls, asks: Asks): void {
  if ("callTool" in output) tools.call(output.callTool);
  else if ("answerTool" in output) {
    const { call, number, answer } = output.answerTool;
    tools.answer(call, number, answer);
  } else if ("abortTool" in output) tools.abort(output.abortTool.call, output.abortTool.why);
  else if ("ask" in output) asks.ask(output.ask.question, output.ask.ask);
  else asks.withdraw(output.withdraw.question, output.withdraw.why);
}
