/** `looplet compare`: recorded runs under a changed agent. */
import {
  compare as compared,
  junitReport,
  markdownReport,
  textReport,
} from "../../face/parts/compare/index.js";
import type { Command } from "../command.js";
import { agentOption, loopFile, written } from "../files.js";
import { terminal } from "../terminal.js";

export const compare: Command = {
  about: "what a changed agent breaks",
  arguments: ["RUN.loop…"],
  help: "The exit code is 1 when a run counts against the change.",
  options: {
    agent: { type: "string", value: "AGENT", about: "the changed agent" },
    tools: { type: "boolean", about: "run the functions of its tools, and compare their results" },
    junit: { type: "string", value: "FILE", about: "write the report as JUnit XML into this file" },
    markdown: { type: "string", value: "FILE", about: "write the report as Markdown into this file" },
  },
  json: "print the report as JSON",
  async run(paths, options) {
    const agent = await agentOption(options);
    await import("looplet");
    const { tools, junit, markdown, json } = options;
    const report = await compared(textsOf(paths), agent, { tools: tools === true ? "run" : "recorded" });
    if (typeof junit === "string") await written(junit, junitReport(report));
    if (typeof markdown === "string") await written(markdown, markdownReport(report));
    terminal.print(json === true ? JSON.stringify(report) : textReport(report).trimEnd());
    return report.isFailed ? 1 : 0;
  },
};

async function* textsOf(paths: readonly string[]): AsyncGenerator<{ name: string; text: string }> {
  for (const name of paths) yield { name, text: await loopFile(name) };
}
