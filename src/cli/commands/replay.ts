/** `looplet replay`: plays a file, and reports whether it gives the same result. */
import { counted } from "../../typescript/lab/replay/amounts.js";
import { expectReplay, ReplayDifference } from "../../typescript/lab/testing/index.js";
import { UsageError, type Command } from "../command.js";
import { agentFile, textFile } from "../files.js";
import { terminal } from "../terminal.js";

export const replay: Command = {
  about: "replay it and show the first difference",
  arguments: ["RUN.loop"],
  help: "Nothing is sent, and no tool runs.",
  options: {
    agent: { type: "string", value: "AGENT", about: "replay it with the options of this agent" },
    tools: { type: "boolean", about: "run its tools, and compare their results" },
  },
  json: "print the result as JSON",
  async run([path], { agent, tools, json }) {
    if (tools === true && agent === undefined) throw new UsageError("--tools needs --agent AGENT");
    const text = await textFile(path!);
    await import("looplet");
    const options = {
      agent: typeof agent === "string" ? await agentFile(agent) : undefined,
      tools: tools === true ? ("run" as const) : undefined,
    };
    try {
      const { requests, steps, at } = await expectReplay(text, options);
      const { outcome = "unfinished" } = at(steps.length - 1);
      if (json === true) terminal.print(JSON.stringify({ equal: true, outcome, requests: requests.length }));
      else
        terminal.print(
          `equal: ${counted(steps.length, "step")}, ${counted(requests.length, "request")}, ${outcome}`,
        );
      return 0;
    } catch (error) {
      if (!(error instanceof ReplayDifference)) throw error;
      const { message, request, at, expected, actual } = error;
      if (json === true)
        terminal.print(JSON.stringify({ equal: false, message, request, at, expected, actual }));
      else terminal.print(message);
      return 1;
    }
  },
};
