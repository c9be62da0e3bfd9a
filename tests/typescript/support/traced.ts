import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import {
  traceRows,
  traceSpans,
  type Span,
  type SpanOptions,
  type TraceRow,
} from "../../../src/typescript/extras/trace/index.js";
import type { AgentOptions, RunResult, Tracer } from "../../../src/typescript/core/api/index.js";

export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const schema = { type: "object", properties: { n: { type: "number" } } } as const;

export interface TracedRunResult {
  rows: TraceRow[];
  spans: Span[];
  result: RunResult;
  bodies: string[];
}

/**
 * One run in a time that only passes where the script says so: 500 ms a request, 40 ms a call of `look`. `act` throws
 * for `n: 0`; `leave` ends the run.
 */
export async function traced(
  turns: ScriptedStep[],
  options: Partial<AgentOptions> & { spans?: SpanOptions; tracers?: Tracer[]; prompt?: string } = {},
): Promise<TracedRunResult> {
  const { spans: spanOptions, tracers = [], prompt = "Go", ...rest } = options;
  let nowMs = START_MS;
  let drawn = 0;
  const answer = scripted(turns);
  const rows: TraceRow[] = [];
  const spans: Span[] = [];
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", {
      fetch: (url, init) => {
        nowMs += 500;
        return answer(url, init);
      },
    }),
    tools: {
      look: tool({
        description: "Looks",
        inputSchema: schema,
        readOnly: true,
        execute: () => ((nowMs += 40), "seen"),
      }),
      act: tool({
        description: "Acts",
        inputSchema: schema,
        execute: () => {
          throw new RangeError("secret words");
        },
      }),
      leave: tool({
        description: "Leaves",
        inputSchema: schema,
        execute: () => {
          throw Object.assign(new Error("no"), {
            name: "ToolError",
            code: "auth",
            hint: "",
            recoverable: false,
          });
        },
      }),
    },
    clock: {
      now: () => nowMs,
      setTimer: (callback, delayMs) =>
        setTimeout(() => {
          nowMs += delayMs;
          callback();
        }, 0),
      clearTimer: (timer) => clearTimeout(timer as never),
    },
    random: () => ((drawn = (drawn * 16807 + 11) % 2147483647), drawn / 2147483647),
    ids: () => "run_1",
    trace: [traceRows(rows.push.bind(rows)), traceSpans((span) => spans.push(span), spanOptions), ...tracers],
    ...rest,
  });
  const result = await agent.run(prompt).result;
  return { rows, spans, result, bodies: answer.requests.map((request) => JSON.stringify(request)) };
}

export const call = (name: string, input: unknown, id?: string) => ({
  name,
  input,
  ...(id === undefined ? {} : { id }),
});
