/**
 * The program `looplet`, for terminals and CI. It uses the package as your code does, and has no loop itself.
 *
 * `program` finds the command and returns its exit code: 0 for success, 1 if something differs or has failed, 2 for a
 * usage error. Only `terminal.ts` prints and asks.
 */
import { parseArgs } from "node:util";
import { LoopletError } from "../typescript/core/api/errors.js";
import { VERSION } from "../typescript/core/kit/tables.js";
import { oneLine } from "../typescript/lab/replay/harmless.js";
import { UsageError, type Command, type Options } from "./command.js";
import { compare } from "./commands/compare.js";
import { doctor } from "./commands/doctor.js";
import { fork } from "./commands/fork.js";
import { importMap } from "./commands/import-map.js";
import { inspect } from "./commands/inspect.js";
import { replay } from "./commands/replay.js";
import { run } from "./commands/run.js";
import { simulate } from "./commands/simulate.js";
import { step } from "./commands/step.js";
import { test } from "./commands/test.js";
import { verify } from "./commands/verify.js";
import { terminal } from "./terminal.js";

const COMMANDS: { readonly [name: string]: Command } = {
  run,
  inspect,
  replay,
  step,
  fork,
  test,
  compare,
  simulate,
  verify,
  "import-map": importMap,
  doctor,
};

/** Runs the program with these arguments. */
export async function program(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || ["help", "--help", "-h"].includes(name)) {
    terminal.print(overview());
    return name === undefined ? 2 : 0;
  }
  if (["version", "--version", "-v"].includes(name)) {
    terminal.print(VERSION);
    return 0;
  }
  try {
    if (!Object.hasOwn(COMMANDS, name))
      throw new UsageError(`unknown command "${name}"; the commands are ${Object.keys(COMMANDS).join(", ")}`);
    const command = COMMANDS[name]!;
    if (rest.includes("--help") || rest.includes("-h")) {
      terminal.print(helpOf(name, command));
      return 0;
    }
    return await command.run(...parsed(command, rest));
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof LoopletError)) throw error;
    const problem = error instanceof LoopletError ? sentenceOf(error) : error.message;
    const place = Object.hasOwn(COMMANDS, name) ? `looplet ${name}` : "looplet";
    terminal.tell(`${place}: ${problem}`);
    if (error instanceof UsageError) terminal.tell(`${place} --help shows its usage.`);
    return 2;
  }
}

function parsed({ options, arguments: names }: Command, args: readonly string[]): [string[], Options] {
  const all = { ...options, json: { type: "boolean", about: "" } } as const;
  const most = names.at(-1)?.endsWith("…") === true ? Infinity : names.length;
  let found;
  try {
    found = parseArgs({ args: [...args], options: all, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { positionals, values } = found;
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  if (positionals.length > most) throw new UsageError(`${positionals[most]} is an unexpected argument`);
  return [positionals, values as Options];
}

function overview(): string {
  const calls = Object.entries(COMMANDS).map(([name, command]) => [callOf(name, command), command.about]);
  const width = Math.max(...calls.map(([call]) => call!.length));
  return [
    `looplet ${VERSION}: runs agents, and plays, tests and compares recorded runs`,
    "",
    ...calls.map(([call, about]) => `  ${call!.padEnd(width)}  ${about}`),
    "",
    "looplet COMMAND --help shows its options. Each takes --json.",
    "AGENT is a module whose default export is an agent, or creates one.",
    "RUN.loop is a file that run.export() has written.",
    "Exit code: 0 success, 1 a difference or a failure, 2 wrong usage.",
  ].join("\n");
}

function helpOf(name: string, command: Command): string {
  const rows = Object.entries({
    ...command.options,
    json: { type: "boolean", about: command.json },
  } as const).map(([option, { type, about, value = "" }]: [string, Command["options"][string]]) => [
    `--${option}${type === "string" ? ` ${value}` : ""}`,
    about,
  ]);
  const width = Math.max(...rows.map(([option]) => option!.length));
  const list = rows.map(([option, about]) => `  ${option!.padEnd(width)}  ${about}`);
  return [callOf(name, command, "looplet "), "", command.help, "", ...list].join("\n");
}

function callOf(name: string, command: Command, program = ""): string {
  return `${program}${[name, ...command.arguments].join(" ")}`;
}

/** The first line of a message, with its field: the second one points to the documentation. */
function sentenceOf({ field, problem }: LoopletError): string {
  const place = field === "file" ? "the file " : field === "" ? "" : `${field}: `;
  return oneLine(`${place}${problem}`);
}
