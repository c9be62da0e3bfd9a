/** `looplet step`: the state of a recorded run after each step. */
import { counted } from "../../typescript/lab/replay/amounts.js";
import { oneLine } from "../../typescript/lab/replay/harmless.js";
import { replay, type Replay, type ReplayStep } from "../../typescript/lab/replay/index.js";
import { LoopletError } from "../../typescript/core/api/errors.js";
import { UsageError, type Command } from "../command.js";
import { textFile, numberOption } from "../files.js";
import { terminal } from "../terminal.js";
import { short, usageText, whole } from "../words.js";

export const step: Command = {
  about: "show the state after each step",
  arguments: ["RUN.loop"],
  help:
    "It reads commands: Enter or n for the next step, p for the previous one, a\n" +
    "number for that step, q to quit. With --at it shows one step and exits.",
  options: { at: { type: "string", value: "N", about: "the number of the step, from 1" } },
  json: "print the step of --at, or all steps, as JSON",
  async run([path], options) {
    const at = numberOption(options, "at");
    const text = await textFile(path!);
    await import("looplet");
    const played = await replay(text);
    const { length } = played.steps;
    if (at !== undefined && (at < 1 || at > length))
      throw new UsageError(`--at needs 1 to ${length}, got ${at}`);
    if (options["json"] === true) {
      const chosen = at === undefined ? played.steps.map((_, index) => index + 1) : [at];
      for (const number of chosen) terminal.print(JSON.stringify(dataOf(played, number)));
    } else if (at !== undefined) terminal.print(momentText(played, at));
    else await walk(played);
    return 0;
  },
};

async function walk(played: Replay): Promise<void> {
  const { length } = played.steps;
  let number = 1;
  terminal.print(momentText(played, number));
  for (;;) {
    const told = (
      await terminal.ask(`step ${number} of ${length}: [n]ext, [p]revious, a number, [q]uit:`)
    )?.trim();
    if (told === undefined || /^q/i.test(told)) break;
    const wanted = /^\d+$/.test(told) ? Number(told) : /^p/i.test(told) ? number - 1 : number + 1;
    if (wanted < 1 || wanted > length) {
      terminal.tell(`There is no step ${wanted}.`);
      continue;
    }
    number = wanted;
    terminal.print(momentText(played, number));
  }
  terminal.close();
}

function dataOf(played: Replay, number: number): object {
  return { step: number, ...played.steps[number - 1], state: stateOf(played, number) };
}

/** The state after a step. Undefined if looplet itself crashed there. */
function stateOf(played: Replay, number: number): ReturnType<Replay["at"]> | undefined {
  try {
    return played.at(number - 1);
  } catch (error) {
    if (error instanceof LoopletError && played.lost !== undefined) return undefined;
    throw error;
  }
}

function momentText(played: Replay, number: number): string {
  const one = played.steps[number - 1]!;
  const state = stateOf(played, number);
  const lines = [
    `step ${number} of ${played.steps.length}: ${inputText(one)}`,
    ...one.requests.map(
      ({ method, url, body }) =>
        `  request   ${method} ${oneLine(url)}, ${counted(body.length, "character")}`,
    ),
    ...one.calls.map(({ toolName, input }) => `  call      ${oneLine(toolName)} ${whole(input)}`),
    ...one.questions.map(({ point, data }) => `  question  ${point} ${whole(data)}`),
    ...(one.events.length === 0 ? [] : [`  events    ${short(kindsOf(one), 200)}`]),
  ];
  if (state === undefined) return [...lines, `  lost      ${oneLine(played.lost ?? "")}`].join("\n");
  const { messages, text, usage, iterations, outcome } = state;
  const facts = [counted(messages.length, "message"), counted(iterations, "iteration"), usageText(usage)];
  if (outcome !== undefined) facts.push(outcome);
  return [
    ...lines,
    `  state     ${facts.join(", ")}`,
    ...(text === "" ? [] : [`  text      ${short(text, 300)}`]),
  ].join("\n");
}

function inputText({ input: { input } }: ReplayStep): string {
  if ("text" in input) return `text of request ${input.text.request}: ${short(input.text.text)}`;
  if ("bytes" in input) return `bytes of request ${input.bytes.request}`;
  return short(input.json, 160);
}

function kindsOf({ events }: ReplayStep): string {
  return events.map(({ type }) => type).join(", ");
}
