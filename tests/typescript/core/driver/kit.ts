// A host for runs in tests: records what the driver calls, and answers requests from a script.
import { readFile } from "node:fs/promises";
import {
  RunDriver,
  type HostCallbacks,
  type HostOutput,
  type ResponseLike,
  type ToolInvocation,
} from "../../../../src/typescript/core/host/driver.js";
import type { RunEvent } from "../../../../src/typescript/core/api/index.js";
import type { LoadedWasm } from "../../../../src/typescript/core/host/wasm.js";
import * as glue from "../../../../target/glue/looplet.js";

let wasm: Promise<LoadedWasm> | undefined;

/** The engine as the build has left it. */
export function loadWasm(): Promise<LoadedWasm> {
  return (wasm ??= (async () => {
    const bytes = await readFile(new URL("../../../../target/glue/looplet_bg.wasm", import.meta.url));
    await glue.default({ module_or_path: bytes });
    return { glue: { ...glue, resetState: glue.__wbg_reset_state } };
  })());
}

export type Delta = { kind: number; text: string; block: number; seq: number };

export interface Recorded {
  driver: RunDriver;
  log: string[];
  deltas: Delta[];
  events: RunEvent[];
  errors: unknown[];
  timers: Map<number, { callback: () => void; delayMs: number }>;
  text(): string;
  /** Settles when the run is done. */
  done: Promise<void>;
}

export type Overrides = Partial<HostCallbacks> & {
  config?: object;
  callTool?: (invocation: ToolInvocation) => void;
};

/** Opens a run and starts it with one prompt. */
export async function begin(overrides: Overrides = {}): Promise<Recorded> {
  const run = open(await loadWasm(), overrides);
  run.driver.tell({ prompt: { content: [{ type: "text", text: "Hi" }] } });
  return run;
}

/** Opens a run. Time stands still; timers fire when a test says so. */
export function open(loaded: LoadedWasm, { config, callTool, ...overrides }: Overrides = {}): Recorded {
  let finished!: () => void;
  const done = new Promise<void>((resolve) => (finished = resolve));
  const timers: Recorded["timers"] = new Map();
  let lastTimer = 0;
  const { done: onDone, ...others } = overrides;
  const host: HostCallbacks = {
    fetch: async () => new Response(streamOf(answer("Hello"))),
    authorize: (request) => request.headers,
    perform: (output) => {
      if ("callTool" in output && callTool !== undefined) callTool(output.callTool);
      else run.log.push(lineOf(output));
    },
    onDelta: (kind, text, block, seq) => run.deltas.push({ kind, text, block, seq }),
    onEvent: (event) => run.events.push(event),
    save: (save) => run.log.push(`save ${save}`),
    done: () => {
      run.log.push("done");
      onDone?.();
      finished();
    },
    now: () => 1_700_000_000_000,
    random: () => 0.5,
    setTimer: (callback, delayMs) => {
      timers.set(++lastTimer, { callback, delayMs });
      return lastTimer;
    },
    clearTimer: (timer) => timers.delete(timer as number),
    onHostError: (error) => run.errors.push(error),
    ...others,
  };
  const run: Recorded = {
    driver: new RunDriver(loaded, JSON.stringify({ ...basicConfig, ...config }), "{}", host),
    log: [],
    deltas: [],
    events: [],
    errors: [],
    timers,
    text: () => run.deltas.map(({ text }) => text).join(""),
    done,
  };
  return run;
}

function lineOf(output: HostOutput): string {
  if ("callTool" in output) return `tool ${output.callTool.toolName}`;
  if ("answerTool" in output)
    return `answer tool ${output.answerTool.number}: ${output.answerTool.answer.action}`;
  if ("abortTool" in output) return `abort tool: ${output.abortTool.why}`;
  if ("ask" in output) return `ask ${output.ask.question}`;
  if ("withdraw" in output) return `withdraw ${output.withdraw.question}: ${output.withdraw.why}`;
  return JSON.stringify(output);
}

export const basicConfig = {
  model: { vendor: "anthropic", model: "claude-sonnet-4-6", baseUrl: "https://api.test" },
  retry: { maxRetries: 0 },
};

/** A tool for the configuration. */
export const weather = {
  name: "weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** The events of an answer, one string each, its text in the given pieces. */
export function answer(...pieces: string[]): string[] {
  return [
    ...head(),
    sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...pieces.map((text) =>
      sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    ),
    sse({ type: "content_block_stop", index: 0 }),
    ...tail("end_turn"),
  ];
}

/** The events of an answer that calls `weather`. */
export function call(input = '{"city":"Paris"}'): string[] {
  return [
    ...head(),
    sse({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
    }),
    sse({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: input } }),
    sse({ type: "content_block_stop", index: 0 }),
    ...tail("tool_use"),
  ];
}

/** A body that gives one chunk at a time, and does not end when `isOpenEnded`. */
export function streamOf(
  chunks: readonly (string | Uint8Array)[],
  { isOpenEnded = false, onCancel = () => {} }: { isOpenEnded?: boolean; onCancel?: () => void } = {},
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[next++];
      if (chunk !== undefined) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      else if (!isOpenEnded) controller.close();
      else return new Promise<void>(() => {});
      return undefined;
    },
    cancel: onCancel,
  });
}

/** Lets every promise that can settle do so. */
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function head(): string[] {
  const message = { id: "msg_1", model: "claude-sonnet-4-6", usage: { input_tokens: 3, output_tokens: 1 } };
  return [sse({ type: "message_start", message })];
}

function tail(reason: string): string[] {
  const delta = { stop_reason: reason, stop_sequence: null };
  return [sse({ type: "message_delta", delta, usage: { output_tokens: 5 } }), sse({ type: "message_stop" })];
}

function sse(data: { type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A response that is no `Response`. */
export function duck(parts: Partial<ResponseLike>): ResponseLike {
  return { status: 200, headers: {}, ...parts };
}
