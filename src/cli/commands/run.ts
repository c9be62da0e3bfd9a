/** `looplet run`: an agent in the terminal. */
import type { Command } from "../command.js";
import { agentFile } from "../files.js";
import { LIVE_OPTIONS, recorded, shownRun } from "../live-run.js";

export const run: Command = {
  about: "run an agent; it asks for approvals here",
  arguments: ["AGENT", "PROMPT"],
  help:
    "The text of the model goes to standard output; calls, results, questions and\n" +
    "the end to standard error. Ctrl-C aborts the run, a second one ends the program.",
  options: LIVE_OPTIONS,
  json: "print events and read answers as JSON lines",
  async run([path, prompt], options) {
    const agent = recorded(await agentFile(path!), options);
    return shownRun(agent, (listeners) => agent.run(prompt!, listeners), options);
  },
};
