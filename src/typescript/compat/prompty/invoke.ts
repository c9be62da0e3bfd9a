/** One model call: its messages, the call, the answer's meaning. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import { getExecutor, getProcessor } from "./components.js";
import type { ExecutorOptions } from "./model/engine-executor.js";
import { load } from "./file/load.js";
import { prepare } from "./template/prepare.js";
import { isCalls, judgedInput, judgedOutput, messageOf, type Guardrails } from "./turn/guardrails.js";
import type { Processed } from "./model/process.js";
import { Span, spanned } from "./tracer.js";
import type { PromptInputs, Message, Prompty, PromptyHost } from "./types.js";

export interface InvokeOptions {
  host?: PromptyHost | undefined;
  signal?: HostAbortSignal | undefined;
  /** Whether to return the provider's answer as it is. Default false. */
  raw?: boolean | undefined;
  /** @internal The span that this call nests below. */
  span?: Span | undefined;
  /** @internal The guardrails of the turn that this call is a tool of. */
  guardrails?: Pick<Guardrails, "input" | "output"> | undefined;
}

/**
 * Sends messages once by the executor of the agent's provider. Resolves with the provider's answer or, with
 * `stream`, possibly with an async iterable of its chunks. Rejects as the executor, and with an `InvokerError` for a
 * provider without one.
 */
export async function executeLlm(
  agent: Prompty,
  messages: readonly Message[],
  { host = {}, ...options }: Partial<ExecutorOptions> = {},
): Promise<unknown> {
  return getExecutor(providerOf(agent)).execute(agent, messages, { host, ...options });
}

/** The meaning of an answer, by the processor of the agent's provider. */
export async function process(agent: Prompty, response: unknown): Promise<Processed> {
  return getProcessor(providerOf(agent)).process(agent, response);
}

/**
 * Sends messages once, or those that `prepare` makes of inputs. Returns the text, the calls or the structured result;
 * with `raw` the provider's answer. Throws as `prepare` and as the executor.
 */
export async function run(
  agent: Prompty,
  given: PromptInputs | readonly Message[] = {},
  options: InvokeOptions = {},
): Promise<unknown> {
  const { host = {}, signal, raw = false, span, guardrails = {} } = options;
  const opened = span?.child("run") ?? Span.root("run", host.tracers);
  return spanned(opened, { signature: "prompty.run", inputs: given }, async (span) => {
    const messages = Array.isArray(given)
      ? (given as readonly Message[])
      : await span.within("prepare", {}, () => prepare(agent, given as PromptInputs, host));
    const asked = (await judgedInput(messages, guardrails)) ?? messages;
    const response = await span.within("Executor", {}, async (span) => {
      const answer = await executeLlm(agent, asked, { host, signal });
      span.use((answer as { usage?: unknown } | null | undefined)?.usage);
      return answer;
    });
    if (raw) return response;
    const result = await span.within("Processor", {}, () => process(agent, response));
    const rewrite = await judgedOutput(messageOf(response, result), guardrails);
    return rewrite === undefined || isCalls(result) ? result : rewrite;
  });
}

/** Runs a file or an agent once with inputs. Throws as `load` and `run`. */
export async function invoke(
  pathOrAgent: string | Prompty,
  inputs: PromptInputs = {},
  options: InvokeOptions = {},
): Promise<unknown> {
  const { host = {}, signal } = options;
  const opened = options.span?.child("invoke") ?? Span.root("invoke", host.tracers);
  return spanned(opened, { signature: "prompty.invoke", inputs }, async (span) => {
    const agent = typeof pathOrAgent === "string" ? await load(pathOrAgent, { host, signal }) : pathOrAgent;
    return run(agent, inputs, { ...options, span });
  });
}

export function providerOf({ model }: Prompty): string {
  return model.provider ?? "openai";
}
