/** `looplet fork`: continues a recorded run from a step, live, with another agent. */
import { fork as journalAt } from "../../typescript/lab/replay/index.js";
import { UsageError, type Command } from "../command.js";
import { agentOption, textFile, numberOption } from "../files.js";
import { LIVE_OPTIONS, recorded, shownRun } from "../live-run.js";

export const fork: Command = {
  about: "continue from a step with another agent, live",
  arguments: ["RUN.loop"],
  help:
    "Calls that were done before the step are not made again. A question that was\n" +
    "open is asked again. `looplet step` shows the steps with their numbers.",
  options: {
    at: { type: "string", value: "N", about: "the number of the step, from 1" },
    agent: { type: "string", value: "AGENT", about: "the agent that continues the run" },
    ...LIVE_OPTIONS,
  },
  json: "print events and read answers as JSON lines",
  async run([path], options) {
    const at = numberOption(options, "at");
    if (at === undefined) throw new UsageError("--at N is missing");
    const agent = recorded(await agentOption(options), options);
    const text = await textFile(path!);
    await import("looplet");
    const entries = await journalAt(text, at - 1);
    return shownRun(agent, (listeners) => agent.resume(entries, listeners), options);
  },
};
