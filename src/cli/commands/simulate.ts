/** `looplet simulate`: shakes an agent until an invariant breaks. */
import {
  alwaysApproved,
  neverTwice,
  simulate as simulated,
  underBudget,
  type Choice,
  type Invariant,
  type SimulatedFailure,
  type Subject,
  type WorldOptions,
} from "../../typescript/lab/testing/index.js";
import { counted } from "../../typescript/lab/replay/amounts.js";
import { UsageError, type Command, type Options } from "../command.js";
import { agentModule, namesOption, numberOption, written } from "../files.js";
import { terminal } from "../terminal.js";

export const simulate: Command = {
  about: "inject faults until an invariant breaks",
  arguments: ["AGENT"],
  help:
    "Nothing is sent, and time is virtual. Simulated tools answer the calls. The\n" +
    "module may also export invariants, a list, and world, the options of the world.",
  options: {
    seeds: { type: "string", value: "N", about: "the number of runs; default 200" },
    prompt: { type: "string", value: "TEXT", about: "the user's prompt" },
    "real-tools": { type: "boolean", about: "run the functions of the tools" },
    "never-twice": { type: "string", value: "NAMES", about: "tools or effects that must not happen twice" },
    "always-approved": { type: "string", value: "NAMES", about: "tools that need an approval each time" },
    "under-budget": { type: "boolean", about: "check that the agent's limits hold" },
    replay: { type: "string", value: "CHOICES", about: "replay one failure" },
    record: { type: "string", value: "OUT.loop", about: "write the first failure into this file" },
  },
  json: "print { runs, digest, failures } as JSON",
  async run([path], options) {
    const seeds = numberOption(options, "seeds");
    const replay = choicesOf(options);
    const { default: subject, invariants = [], world } = await agentModule(path!);
    if (!Array.isArray(invariants))
      throw new UsageError(`${path} exports invariants, which needs to be a list`);
    await import("looplet");
    const { runs, failures, digest } = await simulated(subject as Subject, {
      ...(seeds === undefined ? {} : { seeds }),
      ...(replay === undefined ? {} : { replay }),
      world: worldOf(options, world as WorldOptions | undefined),
      invariants: [...(invariants as Invariant[]), ...invariantsOf(options)],
      onFailure: "return",
    });
    if (options["json"] === true) {
      const told = failures.map(({ run: _, file: __, ...failure }) => failure);
      terminal.print(JSON.stringify({ runs, digest, failures: told }));
    } else {
      for (const failure of failures)
        terminal.print(`${storyOf(failure)}\n  ${callOf(path!, options, failure)}\n`);
      const found = failures.length === 0 ? "no failure" : counted(failures.length, "failure");
      terminal.print(`${counted(runs, "run")}, ${found}, digest ${digest}`);
    }
    const { record } = options;
    const file = failures.find((failure) => failure.file !== undefined)?.file;
    if (typeof record === "string" && file !== undefined) {
      await written(record, file, true);
      terminal.note(`recorded in ${record}`);
    }
    return failures.length === 0 ? 0 : 1;
  },
};

function worldOf(options: Options, own: WorldOptions | undefined): WorldOptions {
  const { prompt } = options;
  return {
    tools: options["real-tools"] === true ? "real" : "standIns",
    ...own,
    ...(typeof prompt === "string" ? { prompt } : {}),
  };
}

function invariantsOf(options: Options): Invariant[] {
  return [
    ...(namesOption(options, "never-twice") ?? []).map((name) => neverTwice(name)),
    ...(namesOption(options, "always-approved") ?? []).map((name) => alwaysApproved(name)),
    ...(options["under-budget"] === true ? [underBudget()] : []),
  ];
}

/** @throws UsageError */
function choicesOf({ replay }: Options): readonly Choice[] | undefined {
  if (typeof replay !== "string") return undefined;
  try {
    return JSON.parse(replay) as readonly Choice[];
  } catch {
    throw new UsageError("--replay needs the choices of a failure as JSON");
  }
}

/** The story without its last line, which is for code. */
function storyOf({ story }: SimulatedFailure): string {
  return story.replace(/\n *Play it again: [^\n]*$/, "");
}

/** The call of this program that plays the failure again. */
function callOf(path: string, options: Options, { choices }: SimulatedFailure): string {
  const given = Object.entries(options).flatMap(([name, value]) =>
    ["seeds", "replay", "record", "json"].includes(name) || value === undefined || value === false
      ? []
      : [value === true ? `--${name}` : `--${name} ${quoted(String(value))}`],
  );
  const all = [quoted(path), ...given, `--replay ${quoted(JSON.stringify(choices))}`];
  return `Replay it: looplet simulate ${all.join(" ")}`;
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
