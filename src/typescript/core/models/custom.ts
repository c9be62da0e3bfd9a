/**
 * `custom()`: any async function as the model. It runs as an in-process `fetch` that speaks looplet's own NDJSON
 * protocol, so that retries, timeouts, aborts and streaming work as for every other model.
 */
import { LoopletError } from "../api/errors.js";
import type {
  CustomAnswer,
  CustomModel,
  CustomOptions,
  CustomPart,
  CustomRequest,
  FetchInit,
  Message,
  Model,
} from "../api/index.js";
import { checkOptions, describe } from "../options/check.js";
import { KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { configFromOptions } from "./model-options.js";
import { CUSTOM_TABLE } from "../options/options.js";
import { message } from "../options/thrown.js";
import { CustomMistake, PartCheck } from "./custom-part.js";
import { sealModel } from "./models.js";

/**
 * A model that is your own function.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 *
 * const echo = custom(async function* ({ messages }) {
 *   yield "You sent ";
 *   yield { type: "text", text: `${messages.length} message.` };
 * });
 * console.log((await createAgent({ model: echo }).run("Hello").result).text); // prints "You sent 1 message."
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function custom(answer: CustomModel, given: CustomOptions = {}): Model {
  if (typeof answer !== "function") {
    throw new LoopletError(
      "config_wrong_type",
      "model",
      `custom() needs a function, got ${describe(answer)}`,
    );
  }
  const options = checkOptions(given, "model", CUSTOM_TABLE, KNOWN_ELSEWHERE);
  return sealModel({
    config: {
      vendor: "custom",
      model: options.name ?? "custom",
      baseUrl: "http://custom.invalid",
      ...configFromOptions(options),
    },
    fetch: customFetch(answer),
    prices: typeof options.price === "function" ? options.price : undefined,
    isDirect: false,
    dangerouslyAllowBrowser: false,
  });
}

/** A `fetch` that calls `answer` and streams its parts as NDJSON. @internal */
export function customFetch(answer: CustomModel): (url: string, init: FetchInit) => Promise<Response> {
  return async (_url, { body, signal }) => {
    const requested = new LazyRequest(body!, signal);
    return new Response(stream(parts(() => answer(requested))), {
      status: 200,
      headers: { "content-type": "application/x-ndjson" },
    });
  };
}

/**
 * Parses the body only when a field is read, so that a function that only counts calls does not pay for the history.
 */
class LazyRequest implements CustomRequest {
  #body: Uint8Array;
  #parsed: Record<string, unknown> | undefined;

  constructor(
    body: Uint8Array,
    readonly signal: AbortSignal,
  ) {
    this.#body = body;
  }

  get model(): string {
    return this.#field("model") as string;
  }

  get system(): string | undefined {
    return this.#field("system") as string | undefined;
  }

  get messages(): readonly Message[] {
    return (this.#field("messages") ?? []) as readonly Message[];
  }

  get tools(): CustomRequest["tools"] {
    return (this.#field("tools") ?? []) as CustomRequest["tools"];
  }

  get options(): Readonly<Record<string, unknown>> {
    const { model: _m, system: _s, messages: _h, tools: _t, ...options } = this.#all();
    return options;
  }

  #field(name: string): unknown {
    return this.#all()[name];
  }

  #all(): Record<string, unknown> {
    return (this.#parsed ??= JSON.parse(new TextDecoder().decode(this.#body)) as Record<string, unknown>);
  }
}

async function* parts(answer: () => CustomAnswer | Promise<CustomAnswer>): AsyncGenerator<CustomPart> {
  const said = await answer();
  let called = false;
  let finished = false;
  const check = new PartCheck();
  const pieces = typeof said === "string" ? [said] : said;
  if (!isIterable(pieces))
    throw new CustomMistake(`the custom model answered with ${describe(pieces)}, not with text or parts`);
  for await (const piece of pieces as AsyncIterable<CustomPart | string>) {
    const part: CustomPart = typeof piece === "string" ? { type: "text", text: piece } : piece;
    check.check(part);
    called ||= part.type === "tool_call" || part.type === "tool_call_start";
    finished ||= part.type === "finish" || part.type === "error";
    yield part;
  }
  if (!finished) yield { type: "finish", reason: called ? "tool_calls" : "stop" };
}

function isIterable(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

/** One line a part, pulled as fast as the reader reads. A reader that cancels ends the generator. */
function stream(source: AsyncGenerator<CustomPart>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const close = () => void source.return(undefined).catch(() => {});
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await source.next();
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(`${lineOf(next.value)}\n`));
      } catch (error) {
        close();
        controller.enqueue(encoder.encode(`${JSON.stringify(thrown(error))}\n`));
        controller.close();
      }
    },
    cancel: close,
  });
}

function lineOf(part: CustomPart): string {
  try {
    return JSON.stringify(part);
  } catch {
    throw new CustomMistake(`the custom model yielded a part of type ${part.type} that JSON cannot hold`);
  }
}

/** A mistake in your code, which another attempt would repeat. */
function thrown(error: unknown): CustomPart {
  return { type: "error", code: "custom_model", message: message(error) };
}
