/** What a program provides to a facade: the models for names, the key, and replacements for tests. */
import type { AgentOptions, ApiKey, Fetch, HttpModelOptions, Model } from "../core/api/index.js";
import { anthropic } from "../core/index.js";
import { joined } from "../core/kit/check.js";

/** A facade reads only `ANTHROPIC_API_KEY` of the process, so its caller gives it everything else that it needs. */
export interface Host extends Pick<AgentOptions, "clock" | "random" | "ids"> {
  /** The model of a name. Default: `anthropic(name, { apiKey, fetch })`. */
  model?: ((name: string) => Model) | undefined;
  /** The key for the default `model`. Default: the variable `ANTHROPIC_API_KEY` of the process, where there is one. */
  apiKey?: ApiKey | undefined;
  /** Your function that sends the requests. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Receives the warnings of the run, such as a model's answer that was repaired. `query` of `looplet/agent-sdk` has
   * messages for them and does not call it. Default: `console`.
   */
  logger?: { warn(message: string): void } | undefined;
}

/** Gives a warning to the logger of the host. A logger that throws does not end the run. */
export function warn({ logger = console }: Pick<Host, "logger">, message: string): void {
  try {
    logger.warn(message);
  } catch {
    // The warning is dropped, as with every logger that fails.
  }
}

/**
 * The model that a facade was asked for by name, or the model itself. `more` are options of the default `model`.
 *
 * @throws LoopletError `config_…`
 */
export function modelOf(model: string | Model, host: Host, more: HttpModelOptions = {}): Model {
  if (typeof model !== "string") return model;
  const own = host.model?.(model);
  if (own !== undefined) return own;
  // Deno asks its user before a program may read a variable, so it is read only where the key is needed.
  const { apiKey = processKey(), fetch } = host;
  return anthropic(model, joined(more, { apiKey, fetch }));
}

/** `ANTHROPIC_API_KEY` of the process; `undefined` where there is no process, such as in a browser. */
function processKey(): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  try {
    return process?.env?.["ANTHROPIC_API_KEY"] || undefined;
  } catch {
    // Deno throws if the program has no permission to read the variable.
    return undefined;
  }
}

/** The options of `createAgent` that the host gives. */
export function hostOptions(host: Host): Partial<AgentOptions> {
  const { fetch, clock, random, ids } = host;
  return joined({ fetch, clock, random, ids });
}
