/** One run on the scripted provider, with a log of what happened in which order. */
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import type {
  AgentOptions,
  Fetch,
  HttpModelOptions,
  RunEvent,
  RunOptions,
  RunResult,
} from "../../../src/typescript/core/api/index.js";

export const schema = { type: "object", properties: { n: { type: "number" } } } as const;

export interface Body {
  system: { text: string }[];
  messages: { role: string; content: Block[] }[];
  tools?: Record<string, unknown>[];
  [field: string]: unknown;
}
export interface Block {
  type: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  content?: unknown;
  is_error?: boolean;
  cache_control?: unknown;
}

export interface Played {
  id: string;
  result: RunResult;
  bodies: Body[];
  events: RunEvent[];
  /** `start name`, `end name` of tools, and what a listener wrote. */
  log: string[];
  /** Milliseconds that were waited between two requests. */
  waits: number[];
  rest: number;
}

export interface Play {
  agent?: Partial<AgentOptions> | undefined;
  model?: Partial<HttpModelOptions> | undefined;
  run?: RunOptions | ((log: string[]) => RunOptions) | undefined;
  prompt?: string | undefined;
}

/** `look` reads, `write` and `edit` do not; each returns what its input says, `{ fail }` throws, `{ fatal }` ends the run. */
export async function play(
  turns: ScriptedStep[],
  { agent = {}, model = {}, run = {}, prompt = "Go" }: Play = {},
) {
  const log: string[] = [];
  const waits: number[] = [];
  const events: RunEvent[] = [];
  let nowMs = 1_000;
  let sentMs = nowMs;
  const fetch = scripted(turns);
  /** Notes the time since the request before. */
  const timed: Fetch = (url, init) => {
    if (nowMs > sentMs) waits.push(nowMs - sentMs);
    sentMs = nowMs;
    return fetch(url, init);
  };
  const act = (name: string, readOnly: boolean) =>
    tool({
      description: `Can ${name}`,
      inputSchema: schema,
      readOnly,
      execute: async (input: { n?: number; give?: unknown; fail?: string; fatal?: string }) => {
        log.push(`start ${name}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        log.push(`end ${name}`);
        if (input.fail !== undefined) throw new Error(input.fail);
        if (input.fatal !== undefined)
          throw Object.assign(new Error(input.fatal), {
            name: "ToolError",
            code: "auth",
            hint: "",
            recoverable: false,
          });
        return "give" in input ? input.give : `${name} done`;
      },
    });
  const made = createAgent({
    model: anthropic("claude-sonnet-4-6", { fetch: timed, ...model }),
    system: "Be brief.",
    tools: { look: act("look", true), write: act("write", false), edit: act("edit", false) },
    clock: {
      now: () => nowMs,
      setTimer: (callback, delayMs) => {
        // Timeouts of requests are not waited out; only a wait between two attempts passes.
        if (delayMs >= 100_000) return undefined;
        return setTimeout(() => {
          nowMs += delayMs;
          callback();
        }, 0);
      },
      clearTimer: (timer) => clearTimeout(timer as never),
    },
    random: () => 0,
    ...agent,
  });
  const given = typeof run === "function" ? run(log) : run;
  const started = made.run(prompt, {
    ...given,
    onEvent: (event) => (events.push(event), given.onEvent?.(event)),
  });
  const result = await started.result;
  const bodies = fetch.requests.map(({ body }) => body as unknown as Body);
  return { id: started.id, result, bodies, events, log, waits, rest: fetch.remaining };
}

export const call = (name: string, input: unknown = {}, id?: string) => ({
  name,
  input,
  ...(id === undefined ? {} : { id }),
});

/** The results in a request's last message. */
export function results(body: Body | undefined): Block[] {
  return body?.messages.at(-1)?.content.filter(({ type }) => type === "tool_result") ?? [];
}

/** The text of a result's content. */
export function told(block: Block | undefined): string {
  const { content } = block ?? {};
  return typeof content === "string"
    ? content
    : ((content as Block[] | undefined) ?? []).map(({ text }) => text).join("");
}
