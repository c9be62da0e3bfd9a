/** `looplet verify`: plays a file again, and judges the run by receipts and a policy. */
import { oneLine } from "../../typescript/lab/replay/harmless.js";
import { verify as verified, type Receipt } from "../../typescript/lab/receipts/index.js";
import { UsageError, type Command } from "../command.js";
import { agentFile, amountOption, namesOption, numberOption, textFile } from "../files.js";
import { signatureCheck } from "../public-key.js";
import { terminal } from "../terminal.js";

export const verify: Command = {
  about: "check it against receipts and a policy",
  arguments: ["RUN.loop"],
  help: "The engine replays the file. Signatures are checked with --key.",
  options: {
    receipts: { type: "string", value: "FILE", about: "a JSON list of the receipts of its journal" },
    key: { type: "string", value: "FILE", about: "the public key that signed them: PEM, JWK, or 32 bytes" },
    journal: { type: "string", value: "KEY", about: "the id of the chat, for a run of a chat" },
    approved: { type: "string", value: "NAMES", about: "tools whose calls a user must have allowed" },
    tools: { type: "string", value: "NAMES", about: "no other tool was called" },
    agent: { type: "string", value: "AGENT", about: "its permissions and limits were in force" },
    "max-usd": { type: "string", value: "N", about: "the run cost at most this" },
    "max-tokens": { type: "string", value: "N", about: "it used at most this many tokens" },
    "max-iterations": { type: "string", value: "N", about: "it sent at most this many requests" },
    "max-tool-calls": { type: "string", value: "N", about: "at most this many calls ran" },
  },
  json: "print { passed, checks } as JSON",
  async run([path], options) {
    const { receipts, agent, json, key, journal } = options;
    if (typeof key === "string" && typeof receipts !== "string")
      throw new UsageError("--key needs --receipts: it checks their signatures");
    const text = await textFile(path!);
    await import("looplet");
    const policy = {
      approved: namesOption(options, "approved"),
      tools: namesOption(options, "tools"),
      agent: typeof agent === "string" ? await agentFile(agent) : undefined,
      maxUsd: amountOption(options, "max-usd"),
      maxTokens: numberOption(options, "max-tokens"),
      maxIterations: numberOption(options, "max-iterations"),
      maxToolCalls: numberOption(options, "max-tool-calls"),
    };
    const { passed, checks } = await verified(text, {
      policy,
      ...(typeof receipts === "string" && { receipts: await receiptsIn(receipts) }),
      ...(typeof key === "string" && { isSigned: await signatureCheck(key) }),
      ...(typeof journal === "string" && { key: journal }),
    });
    if (json === true) terminal.print(JSON.stringify({ passed, checks }));
    else
      for (const check of checks)
        terminal.print(`${check.passed ? "✓" : "✗"} ${check.name}: ${oneLine(check.says)}`);
    return passed ? 0 : 1;
  },
};

/** @throws UsageError */
async function receiptsIn(path: string): Promise<readonly Receipt[]> {
  try {
    return JSON.parse(await textFile(path)) as readonly Receipt[];
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} is not valid JSON. Pass a file with a list of receipts`);
  }
}
