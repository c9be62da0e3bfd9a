/** The replaceable parts, each under a key: renderers, parsers, executors and processors. */
import { isAnswer } from "./model/answer.js";
import { executeOnEngine, streamOnEngine, type ExecutorOptions } from "./model/engine-executor.js";
import { InvokerError } from "./errors.js";
import { renderJinja } from "./template/jinja.js";
import { renderMustache } from "./template/mustache.js";
import { parseChat } from "./template/parse.js";
import { processResponse, type Processed } from "./model/process.js";
import { Registry } from "./registry.js";
import type { Segment } from "./template/segments.js";
import {
  anthropicToolMessages,
  chatToolMessages,
  responsesToolMessages,
  type FormatToolMessages,
} from "./model/tool-messages.js";
import type { PromptInputs, Message, Prompty } from "./types.js";

/** Fills a template. Segments record the source of each part. A string counts as written by the author. */
export interface Renderer {
  render(
    agent: Prompty,
    template: string,
    inputs: PromptInputs,
    strict: readonly string[],
  ): string | Segment[] | Promise<string | Segment[]>;
}

export interface Parser {
  parse(agent: Prompty, text: string): Message[] | Promise<Message[]>;
}

/** Asks a model, and words its rounds of tool calls. */
export interface Executor {
  /** Contract: returns the provider's answer or, with `options.stream`, possibly an async iterable of its chunks. */
  execute(agent: Prompty, messages: readonly Message[], options: ExecutorOptions): unknown;
  formatToolMessages: FormatToolMessages;
}

export interface Processor {
  /** Contract: returns the calls of an answer as a list, else its text or its structured result. */
  process(agent: Prompty, response: unknown): Processed | Promise<Processed>;
}

const renderers = new Registry<Renderer>();
const parsers = new Registry<Parser>();
renderers.register("jinja2", {
  render: (_, template, inputs, strict) => renderJinja(template, inputs, strict),
});
renderers.register("mustache", {
  render: (_, template, inputs, strict) => renderMustache(template, inputs, strict),
});
parsers.register("prompty", { parse: (_, text) => parseChat(text) });

const executors = new Registry<Executor>();
const processors = new Registry<Processor>();
const execute: Executor["execute"] = (agent, messages, options) =>
  options.stream === true
    ? streamOnEngine(agent, messages, options)
    : executeOnEngine(agent, messages, options);
const processor: Processor = { process: processResponse };

/**
 * The messages of a round. Looplet's own answers have one form for every provider, in which a guardrail sees the text
 * of each result. The first contains looplet's own message, so that all its blocks are sent back.
 */
function formatted(format: FormatToolMessages): FormatToolMessages {
  return (response, calls, results, text) => {
    if (!isAnswer(response)) return format(response, calls, results, text);
    const [first, ...others] = chatToolMessages(null, calls, results, text);
    return [{ ...first!, metadata: { ...first!.metadata, answer: response.message } }, ...others];
  };
}

const openaiFormat: FormatToolMessages = (response, calls, results, text) => {
  const isResponses = Array.isArray((response as { output?: unknown } | null)?.output);
  return (isResponses ? responsesToolMessages : chatToolMessages)(response, calls, results, text);
};
for (const provider of ["openai", "anthropic", "google"]) {
  const format = provider === "anthropic" ? anthropicToolMessages : openaiFormat;
  executors.register(provider, { execute, formatToolMessages: formatted(format) });
  processors.register(provider, processor);
}

/** Registers an executor under a `model.provider`, also in place of a built-in one. */
export const registerExecutor = executors.register;
/** Registers a processor under a `model.provider`. */
export const registerProcessor = processors.register;
/** The executor of a `model.provider`, built in or registered. @throws InvokerError if there is none */
export const getExecutor = (key: string): Executor => found("executor", key, executors);
/** The processor of a `model.provider`, built in or registered. @throws InvokerError if there is none */
export const getProcessor = (key: string): Processor => found("processor", key, processors);

/** Registers a renderer under a `template.format.kind`. */
export const registerRenderer = renderers.register;
/** Registers a parser under a `template.parser.kind`. */
export const registerParser = parsers.register;
/** The renderer of a `template.format.kind`, built in or registered. @throws InvokerError if there is none */
export const getRenderer = (key: string): Renderer => found("renderer", key, renderers);
/** The parser of a `template.parser.kind`, built in or registered. @throws InvokerError if there is none */
export const getParser = (key: string): Parser => found("parser", key, parsers);

/** @throws InvokerError */
function found<T>(component: string, key: string, registry: Registry<T>): T {
  const entry = registry.get(key);
  if (entry === undefined) throw new InvokerError(component, key);
  return entry;
}
