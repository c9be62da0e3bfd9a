/** `looplet compare`: recorded runs under a changed agent. */
import {
  compare as compared,
  junitReport,
  markdownReport,
  textReport,
  type LiveOptions,
} from "../../typescript/lab/compare/index.js";
import { UsageError, type Command, type Options } from "../command.js";
import { agentOption, amountOption, textFile, numberOption, written } from "../files.js";
import { terminal } from "../terminal.js";

export const compare: Command = {
  about: "what a changed agent breaks",
  arguments: ["RUN.loop…"],
  help: "The exit code is 1 if the change breaks a run.",
  options: {
    agent: { type: "string", value: "AGENT", about: "the changed agent; default: test this looplet version" },
    tools: { type: "boolean", about: "run its tools, and compare their results" },
    hooks: { type: "boolean", about: "run its hooks; models answer from the files" },
    live: { type: "boolean", about: "ask its models; needs a bound, one of the next three" },
    "max-usd": { type: "string", value: "N", about: "US dollars that --live may spend" },
    "max-tokens": { type: "string", value: "N", about: "tokens that --live may use" },
    "max-requests": { type: "string", value: "N", about: "requests that --live may send" },
    junit: { type: "string", value: "FILE", about: "write a report as JUnit XML" },
    markdown: { type: "string", value: "FILE", about: "write a report as Markdown" },
  },
  json: "print the report as JSON",
  async run(paths, options) {
    const live = liveOptions(options);
    const agent = options["agent"] === undefined ? undefined : await agentOption(options);
    if (agent === undefined && ["live", "tools", "hooks"].some((name) => options[name] === true))
      throw new UsageError("--live, --tools and --hooks need --agent AGENT");
    await import("looplet");
    const { junit, markdown, json } = options;
    const report = await compared(textsOf(paths), agent, {
      ...(options["tools"] === true && { tools: "run" }),
      ...(options["hooks"] === true && { hooks: "run" }),
      live,
    });
    if (typeof junit === "string") await written(junit, junitReport(report));
    if (typeof markdown === "string") await written(markdown, markdownReport(report));
    terminal.print(json === true ? JSON.stringify(report) : textReport(report).trimEnd());
    return report.isFailed ? 1 : 0;
  },
};

/** @throws UsageError */
function liveOptions(options: Options): LiveOptions | undefined {
  const bounds = {
    maxUsd: amountOption(options, "max-usd"),
    maxTokens: numberOption(options, "max-tokens"),
    maxRequests: numberOption(options, "max-requests"),
  };
  const isBound = Object.values(bounds).some((bound) => bound !== undefined);
  if (options["live"] === true && !isBound)
    throw new UsageError("--live needs --max-usd N, --max-tokens N or --max-requests N");
  if (options["live"] !== true && isBound) throw new UsageError("a bound needs --live");
  if (["live", "tools", "hooks"].filter((name) => options[name] === true).length > 1)
    throw new UsageError("only one of --live, --tools and --hooks");
  return options["live"] === true ? bounds : undefined;
}

async function* textsOf(paths: readonly string[]): AsyncGenerator<{ name: string; text: string }> {
  for (const name of paths) yield { name, text: await textFile(name) };
}
