/** A live run in the terminal: its text, its calls, its questions, its end. */
import process from "node:process";
import type {
  Agent,
  AgentOptions,
  ElicitationAnswer,
  ElicitationRequest,
  QuestionAnswer,
  Run,
  RunEvent,
  RunEventOf,
  RunListeners,
} from "../typescript/core/api/index.js";
import { isObject } from "../typescript/core/kit/check.js";
import { internalsOf } from "../typescript/core/kit/runs.js";
import { counted } from "../typescript/lab/replay/amounts.js";
import { oneLine } from "../typescript/lab/replay/harmless.js";
import { recorder } from "../typescript/lab/replay/recorder.js";
import { LoopletError } from "../typescript/core/api/errors.js";
import type { Options } from "./command.js";
import { written } from "./files.js";
import { terminal } from "./terminal.js";
import { outcomeText, short, usageText, whole } from "./words.js";

export const LIVE_OPTIONS = {
  record: { type: "string", value: "OUT.loop", about: "write the run to this file when it ends" },
} as const;

/** The agent, with a recorder if the run is saved to a file. */
export function recorded(agent: Agent, { record }: Options): Agent {
  const { options, again } = internalsOf(agent)!;
  return record === undefined || options.record !== undefined
    ? agent
    : again({ ...options, record: recorder() });
}

/** Shows a run that `begin` starts, and answers its questions. Returns the exit code. */
export async function shownRun(
  agent: Agent,
  begin: (listeners: RunListeners) => Run,
  options: Options,
): Promise<number> {
  const isJson = options["json"] === true;
  const asking = new Asking(internalsOf(agent)!.options, isJson);
  const told = isJson ? (event: RunEvent) => terminal.print(JSON.stringify(event)) : new Telling().tell;
  const run: Run = begin({
    onEvent(event) {
      told(event);
      if (event.type === "question") asking.hear(event, run);
    },
    onError: (error) => terminal.tell(`error: ${String(error)}`),
  });
  let interrupts = 0;
  const interrupt = (): void => {
    if (interrupts++ > 0) process.exit(130);
    terminal.note("aborting; press Ctrl-C again to exit");
    run.abort("interrupted");
  };
  process.on("SIGINT", interrupt);
  if (isJson) void asking.readAnswers(run);
  const result = await run.result;
  await run.saved().catch((error: unknown) => terminal.tell(`not saved: ${String(error)}`));
  process.off("SIGINT", interrupt);
  terminal.close();
  if (!isJson) {
    const facts = [outcomeText(result), counted(result.iterations, "iteration"), usageText(result.usage)];
    terminal.note(oneLine(facts.join(" · ")));
  }
  const { record } = options;
  if (typeof record === "string") {
    await written(record, run.export(), true);
    terminal.note(`recorded in ${record}`);
  }
  return result.outcome === "completed" ? 0 : 1;
}

/** Prints the events of a run: text on standard output, everything else on standard error. */
class Telling {
  #isInText = false;

  readonly tell = (event: RunEvent): void => {
    const { agentPath } = event;
    if (event.type === "text-delta" && agentPath === "root") {
      this.#isInText = true;
      return terminal.write(event.text);
    }
    const line = lineOf(event);
    if (this.#isInText && (line !== undefined || event.type === "text-end")) {
      this.#isInText = false;
      terminal.write("\n");
    }
    const place = agentPath === "root" ? "" : `${agentPath}: `;
    if (line !== undefined) terminal.note(oneLine(`${place}${line}`));
  };
}

function lineOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case "tool-call":
      return `→ ${event.toolName} ${short(event.input)}`;
    case "tool-result":
      return `← ${event.toolName} ${short(event.output)}`;
    case "tool-error":
      return `✗ ${event.toolName} ${event.error.code}: ${short(event.error.message)}`;
    case "tool-progress":
      return `… ${event.toolName} ${short(event.data)}`;
    case "retry":
      return `${event.error.message}; attempt ${event.nextAttempt} in ${event.delayMs} ms`;
    case "reset":
      return "the answer starts over";
    case "handoff":
      return `${event.to} continues`;
    case "model-change":
      return `${event.model} continues`;
    case "compact-boundary":
      return `the history was shortened from about ${event.preTokens} to ${event.postTokens} tokens`;
    case "warning":
      return `${event.code}: ${event.message}`;
    default:
      // A new event does not compile until it has a case above, or is in this list of those that are left out.
      event.type satisfies
        | "run-start"
        | "agent-start"
        | "iteration-start"
        | "answer-cut-off"
        | "attempt-start"
        | "text-start"
        | "text-delta"
        | "text-end"
        | "reasoning-start"
        | "reasoning-progress"
        | "reasoning-delta"
        | "reasoning-end"
        | "tool-input-start"
        | "tool-input-delta"
        | "tool-input-end"
        | "question"
        | "answered"
        | "waiting"
        | "not-saved"
        | "steer-delivered"
        | "compact-start"
        | "usage"
        | "limits"
        | "message"
        | "iteration-finish"
        | "agent-finish"
        | "abort"
        | "error"
        | "finish"
        | "snapshot";
      return undefined;
  }
}

type Asked = RunEventOf<"question">;

/** The questions of a run, asked one after the other. */
class Asking {
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly own: AgentOptions,
    private readonly isJson: boolean,
  ) {}

  /** Asks a question that no function of the agent answers. */
  hear(event: Asked, run: Run): void {
    if (this.isJson || event.data === undefined || this.#isAnswered(event)) return;
    this.#last = this.#last.then(async () => {
      const answer = await answerOf(event);
      if (answer !== undefined) run.answer(event.questionId, answer);
    });
  }

  /** Reads answers as lines of JSON: `{"questionId":1,"answer":{…}}`. */
  async readAnswers(run: Run): Promise<void> {
    for (let line = await terminal.line(); line !== undefined; line = await terminal.line()) {
      if (line.trim() === "") continue;
      try {
        const { questionId, answer } = JSON.parse(line) as { questionId: number; answer: QuestionAnswer };
        if (!run.answer(questionId, answer))
          terminal.tell(`no open question ${questionId} accepts this answer`);
      } catch (error) {
        const problem = error instanceof LoopletError ? error.problem : (error as Error).message;
        terminal.tell(`this line is not an answer: ${problem}`);
      }
    }
  }

  #isAnswered({ question }: Asked): boolean {
    const { permissions, toolCalls, durable } = this.own;
    if (question === "permission") return permissions?.canUseTool !== undefined;
    if (question === "elicitation") return toolCalls?.onElicitation !== undefined;
    return durable?.reconcile !== undefined;
  }
}

const YES = /^(?:y|yes)$/i;

/** The user's answer at the terminal. At the end of the input everything is denied. */
async function answerOf(event: Asked): Promise<QuestionAnswer | undefined> {
  if (event.question === "permission") {
    const { toolName, input, reason } = event.data;
    terminal.tell(`${oneLine(toolName)} ${whole(input)}`);
    if (reason) terminal.note(oneLine(reason));
    for (;;) {
      const told = (await terminal.ask("Allow it? [y]es, [n]o, or the reason for a no:"))?.trim();
      if (told === undefined) return { behavior: "deny", message: "No user is there to allow it." };
      if (YES.test(told)) return { behavior: "allow" };
      if (/^(?:n|no)$/i.test(told)) return { behavior: "deny", message: "The user said no." };
      if (told !== "") return { behavior: "deny", message: told };
    }
  }
  if (event.question === "elicitation") {
    const { toolName, request } = event.data;
    return filledIn(toolName, request as ElicitationRequest);
  }
  if (event.question !== "reconcile") return undefined;
  const { toolName, input } = event.data;
  terminal.tell(`${oneLine(toolName)} ${whole(input)} had started when the run was interrupted.`);
  for (;;) {
    const told = (await terminal.ask("What happened to it? [d]one, [r]un it again, [f]ailed:"))?.trim();
    if (told === undefined || /^f(?:ailed)?$/i.test(told))
      return { outcome: "fail", message: "It is not known what happened to it." };
    if (/^r(?:un)?$/i.test(told)) return { outcome: "run" };
    if (/^d(?:one)?$/i.test(told))
      return { outcome: "done", output: (await terminal.ask("Its result:")) ?? "" };
  }
}

/** The words of the request are those of a tool or a server, so they must not look like lines of this program. */
async function filledIn(
  toolName: string,
  { message, requestedSchema, url }: ElicitationRequest,
): Promise<ElicitationAnswer> {
  terminal.tell(`${oneLine(toolName)} asks: ${oneLine(message)}`);
  if (url !== undefined) terminal.tell(oneLine(url));
  const fields = isObject(requestedSchema?.["properties"])
    ? Object.entries(requestedSchema["properties"])
    : [];
  const content: { [field: string]: unknown } = {};
  for (const [name, field] of fields) {
    const {
      title = name,
      type,
      enum: words,
    } = (field ?? {}) as { title?: string; type?: string; enum?: unknown[] };
    const choices = Array.isArray(words) ? ` (${words.join(", ")})` : "";
    const told = await terminal.ask(oneLine(`${title}${choices}:`));
    if (told === undefined) return { action: "cancel" };
    if (told !== "") content[name] = valueOf(told, type);
  }
  const told = await terminal.ask("Send it? [y]es, [n]o:");
  if (told === undefined) return { action: "cancel" };
  return YES.test(told.trim()) ? { action: "accept", content } : { action: "decline" };
}

function valueOf(told: string, type: string | undefined): unknown {
  if (type === "number" || type === "integer") return Number(told);
  if (type === "boolean") return /^(?:y|yes|true|1)$/i.test(told.trim());
  return told;
}
