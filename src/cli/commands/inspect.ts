/** `looplet inspect`: what happened in a recorded run, and what the file reveals to others. */
import type { OutcomeKind, RunEvent, Usage } from "../../typescript/core/api/index.js";
import { askedModel } from "../../typescript/lab/replay/asked-model.js";
import { counted } from "../../typescript/lab/replay/amounts.js";
import { harmless, oneLine } from "../../typescript/lab/replay/harmless.js";
import { attemptsIn, CAUSES, newTokens, partText } from "../../typescript/lab/replay/prefix-words.js";
import { readLoop, type LoopFile, type LoopProcess } from "../../typescript/lab/replay/loop-file.js";
import { replay, type Replay } from "../../typescript/lab/replay/index.js";
import { starredShapes } from "../../typescript/lab/replay/secret-shapes.js";
import type { Command } from "../command.js";
import { textFile } from "../files.js";
import { terminal } from "../terminal.js";
import { outcomeText, short, tableText, usageText, whole } from "../words.js";

export const inspect: Command = {
  about: "show what happened, and what the file reveals",
  arguments: ["RUN.loop"],
  help: "Nothing is sent, and no tool runs.",
  options: {
    text: { type: "boolean", about: "print the prompts, answers, inputs and results in order" },
  },
  json: "print it as JSON",
  async run([path], { json, text: asText }) {
    const text = await textFile(path!);
    const file = readLoop(text);
    await import("looplet");
    const played = await replay(text);
    if (asText === true) {
      const { messages } = lastOf(played);
      terminal.print(json === true ? JSON.stringify(messages) : transcriptText(messages));
      return played.lost === undefined ? 0 : 1;
    }
    const events = played.steps.flatMap(({ events }) => events);
    const head = {
      file: path!,
      looplet: file.looplet,
      id: file.id,
      outcome: file.outcome ?? ("unfinished" as OutcomeKind),
      end: endOf(events),
      processes: file.processes.length,
      steps: played.steps.length,
      lost: played.lost,
    };
    const iterations = iterationsOf(file, played);
    const told = toldBy(text, played);
    const prefixBreaks = breaksOf(events);
    if (json === true) terminal.print(JSON.stringify({ ...head, iterations, prefixBreaks, told }));
    else terminal.print(inspected(head, iterations, prefixBreaks, told));
    return played.lost === undefined ? 0 : 1;
  },
};

/** A model call and its tools. */
interface Iteration {
  readonly agent: string;
  readonly iteration: number;
  attempts: number;
  model: string;
  usage: Usage | null;
  finishReason: string;
  readonly tools: string[];
}

function iterationsOf({ processes }: LoopFile, { steps }: Replay): Iteration[] {
  const found = new Map<string, Iteration>();
  const models = new Map<string, string>();
  const begins = new Map<number, LoopProcess>();
  let first = 0;
  for (const process of processes) {
    begins.set(first, process);
    first += process.inputs.length;
  }
  steps.forEach(({ events, requests }, at) => {
    const begun = begins.get(at);
    if (begun !== undefined) {
      // A process that continues a run may have other models, and emits no `agent-start`.
      models.clear();
      models.set("root", String((Object(begun.config["model"]) as { model?: unknown }).model ?? ""));
    }
    /** The iterations of this step with requests that follow, in the order of the requests. */
    const asking: Iteration[] = [];
    for (const event of events) {
      const { agentPath: agent, iteration } = event;
      if (event.type === "agent-start" || event.type === "model-change") models.set(agent, event.model);
      const key = `${agent} ${iteration}`;
      if (event.type === "attempt-start" && !found.has(key)) {
        const model = models.get(agent) ?? "";
        found.set(key, { agent, iteration, attempts: 0, model, usage: null, finishReason: "", tools: [] });
      }
      const one = found.get(key);
      if (one === undefined) continue;
      if (event.type === "attempt-start") {
        one.attempts++;
        asking.push(one);
      }
      if (event.type === "tool-result") one.tools.push(event.toolName);
      if (event.type === "tool-error") one.tools.push(`${event.toolName} (${event.error.code})`);
      if (event.type === "iteration-finish") {
        one.usage = event.usage;
        one.finishReason = event.finishReason ?? "";
      }
    }
    // The request is authoritative: a fork may start after a handoff, or in a subagent.
    if (asking.length === requests.length)
      asking.forEach((one, index) => (one.model = askedModel(requests[index]!) ?? one.model));
  });
  return [...found.values()];
}

function endOf(events: readonly RunEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === "finish" ? outcomeText(last.outcome) : undefined;
}

/** A request that does not begin with everything of the one before it. */
interface Break {
  readonly agent: string;
  readonly iteration: number;
  readonly attempt: number;
  /** The part that changed, and what changed it. */
  readonly changed: string;
  readonly cause: string;
  /** Estimated tokens of the request that are shared, and that are not. */
  readonly sharedTokens: number;
  readonly newTokens: number;
}

function breaksOf(events: readonly RunEvent[]): Break[] {
  return attemptsIn(events).flatMap(({ agentPath: agent, iteration, attempt, prefix }) => {
    if (prefix?.broken === undefined) return [];
    const { broken, sharedTokens } = prefix;
    const words = { changed: partText(broken), cause: CAUSES[broken.cause] };
    return [{ agent, iteration, attempt, ...words, sharedTokens, newTokens: newTokens(prefix) }];
  });
}

/** A table of the breaks. No lines if there are none. */
function breaksText(breaks: readonly Break[]): string[] {
  if (breaks.length === 0) return [];
  const rows = breaks.map(({ agent, iteration, changed, sharedTokens, newTokens, cause }) =>
    [agent, `${iteration}`, changed, amount(sharedTokens), amount(newTokens), cause].map(oneLine),
  );
  const sum = breaks.reduce((tokens, one) => tokens + one.newTokens, 0);
  const names = ["agent", "+iteration", "changed", "+shared", "+not shared", "cause"];
  const requests = counted(breaks.length, "request");
  return [
    `Prefix breaks: ${requests}, with about ${amount(sum)} tokens after the breaks`,
    tableText(names, rows),
    "",
  ];
}

const amount = (tokens: number): string => tokens.toLocaleString("en-US");

/** What anyone with the file can read in it. */
interface Told {
  readonly bytes: number;
  readonly hosts: readonly string[];
  /** Characters by their kind. */
  readonly characters: { readonly [kind: string]: number };
  /** Texts that look like keys, with asterisks, and how often each occurs in the file. */
  readonly secrets: readonly { readonly text: string; readonly times: number }[];
}

function toldBy(text: string, played: Replay): Told {
  const hosts = new Set(played.requests.map(({ url }) => hostOf(url)));
  const characters: { [kind: string]: number } = {};
  const add = (kind: string, length: number): void => {
    if (length > 0) characters[kind] = (characters[kind] ?? 0) + length;
  };
  const { processes } = readLoop(text);
  for (const { config } of processes) add("system prompt", lengthOf(config["system"]));
  const { messages } = lastOf(played);
  for (const { role, content } of messages)
    for (const block of content) {
      if (block.type === "tool_result") add("results of tools", lengthOf(block.content));
      else if (block.type === "tool_call") add("inputs of tools", lengthOf(block.input));
      else add(role === "user" ? "prompts" : "answers", lengthOf("text" in block ? block.text : block));
    }
  return {
    bytes: new TextEncoder().encode(text).length,
    hosts: [...hosts],
    characters,
    secrets: secretsIn(text),
  };
}

/** The last state that the engine reached. */
function lastOf(played: Replay): ReturnType<Replay["at"]> {
  return played.at(Math.max(0, played.steps.length - (played.lost === undefined ? 1 : 2)));
}

/** The messages of the run's agent, for reading. Text has its own lines, and calls and results are whole. */
function transcriptText(messages: ReturnType<Replay["at"]>["messages"]): string {
  const parts: string[] = [];
  for (const { role, content } of messages)
    for (const block of content) {
      if (block.type === "tool_call") parts.push(`→ ${oneLine(block.name)} ${whole(block.input)}`);
      else if (block.type === "tool_result") parts.push(indented("←", textIn(block.content)));
      else if ("text" in block && typeof block.text === "string")
        parts.push(indented(`${role}:`, block.text));
      else parts.push(`${role}: ${short(block, 200)}`);
    }
  return parts.join("\n\n");
}

/** A text after its speaker. Its other lines are indented, so that none looks like a speaker. */
function indented(speaker: string, text: string): string {
  return `${speaker} ${harmless(text).replace(/\r\n|\r|\n/g, "\n  ")}`;
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return whole(content);
  return content
    .map((one) => ((Object(one) as { text?: unknown }).text === undefined ? whole(one) : String(one.text)))
    .join("\n");
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function lengthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

/** Characters of a text that show what it is; the others become asterisks. */
const MAX_SHOWN = 60;

function secretsIn(text: string): { text: string; times: number }[] {
  const found = new Map<string, number>();
  JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "string") return value;
    const starred = starredShapes(value);
    if (starred === value) return value;
    let at = 0;
    while (value[at] === starred[at]) at++;
    const shown = short(starred.slice(Math.max(0, at - 20)).replace(/\*{4,}/g, "****"), MAX_SHOWN);
    found.set(shown, (found.get(shown) ?? 0) + 1);
    return value;
  });
  return Array.from(found, ([shown, times]) => ({ text: shown, times }));
}

interface Head {
  readonly file: string;
  readonly looplet: string;
  readonly id: string;
  readonly outcome: OutcomeKind;
  readonly end: string | undefined;
  readonly processes: number;
  readonly steps: number;
  readonly lost: string | undefined;
}

function inspected(
  head: Head,
  iterations: readonly Iteration[],
  prefixBreaks: readonly Break[],
  told: Told,
): string {
  const rows = iterations.map((one) =>
    [
      one.agent,
      `${one.iteration}`,
      `${one.attempts}`,
      one.model,
      one.usage === null ? "–" : usageText(one.usage),
      one.finishReason || "–",
      one.tools.join(", ") || "–",
    ].map(oneLine),
  );
  const names = ["agent", "+iteration", "+requests", "model", "usage (in + out)", "finish", "tools"];
  const characters = Object.entries(told.characters).map(
    ([kind, count]) => `  ${kind}: ${counted(count, "character")}`,
  );
  const secrets = told.secrets.map(
    ({ text, times }) => `  looks like a key: ${text} (${counted(times, "time")})`,
  );
  return [
    `${head.file}: run ${short(head.id)} of looplet ${head.looplet}`,
    `${oneLine(head.end ?? head.outcome)}; ${counted(head.steps, "step")} of ${counted(head.processes, "process").replace("processs", "processes")}`,
    ...(head.lost === undefined ? [] : [`looplet itself failed: ${oneLine(head.lost)}`]),
    "",
    tableText(names, rows),
    "",
    ...breaksText(prefixBreaks),
    `Everyone who has this file (${counted(told.bytes, "byte")}) can read:`,
    ...told.hosts.map((host) => `  asked: ${oneLine(host)}`),
    ...characters,
    ...(secrets.length === 0 ? ["  nothing that looks like a key"] : secrets),
  ].join("\n");
}
