/** Queries with options that are checked before their prompt is known. No process has to start, so nothing waits. */
import { joined } from "../../../core/kit/check.js";
import { checkOptions } from "../options/options.js";
import { query } from "../query.js";
import type { Options, PermissionMode, Query, SDKUserInput } from "../types.js";

type QueryPrompt = string | AsyncIterable<SDKUserInput>;

/**
 * The method that `await using` calls at the end. Its name is looked up, because an older platform does not have it.
 */
type Disposed = typeof globalThis extends { Symbol: { readonly asyncDispose: infer S extends symbol } }
  ? { [name in S]: () => PromiseLike<void> }
  : unknown;

/** A query that waits for its prompt. */
export interface WarmQueryMethods {
  /** Begins the query. Can be called once. */
  query(prompt: QueryPrompt): Query;
  /** Ends the query, even before it has started. */
  close(): void;
}

export type WarmQuery = WarmQueryMethods & Disposed;

/** What a session adds to the options of {@link prewarm}. */
export interface ClaimOptions {
  cwd: string;
  env?: Record<string, string>;
  additionalDirectories?: string[];
  model?: string;
  permissionMode?: PermissionMode;
  maxThinkingTokens?: number | null;
  /** Settings, as the option `settings`. */
  settings?: { [name: string]: unknown };
  /** A text after the system prompt. */
  appendSystemPrompt?: string;
  title?: string;
  agents?: Options["agents"];
}

/** A query that waits for its folder and its prompt. */
export interface SpareProcessMethods {
  /** Begins the query. Can be called once. */
  claim(given: { prompt: QueryPrompt; options: ClaimOptions }): Query;
  /** Resolves with the first message of the query; rejects if it is closed before. */
  readonly claimed: Promise<{
    cwd: string;
    sessionId: string;
    /** Milliseconds between {@link prewarm} and `claim`. */
    parkedMs?: number;
    sdkMcpSettled: boolean;
  }>;
  /** Resolves when the query has ended, or is closed. */
  readonly exited: Promise<void>;
  close(): void;
}

export type SpareProcess = SpareProcessMethods & Disposed;

export interface StartupOptions {
  options?: Options;
  /** Does nothing: there is no process that could be slow. */
  initializeTimeoutMs?: number;
}

/**
 * Checks options, for a query with a later prompt.
 *
 * @throws TypeError for an option that is unknown or wrong
 */
export async function startup({ options = {} }: StartupOptions = {}): Promise<WarmQuery> {
  checkOptions(options);
  let begun: Query | "closed" | undefined;
  const close = (): void => {
    if (typeof begun === "object") begun.close();
    begun = "closed";
  };
  return disposable({
    query(prompt: QueryPrompt): Query {
      if (begun !== undefined) throw new TypeError(`startup: query() ${used(begun)}; call startup() again`);
      return (begun = query({ prompt, options }));
    },
    close,
  });
}

/**
 * Checks options, for a session with a later folder and prompt.
 *
 * @throws TypeError for an option that is unknown or wrong
 */
export async function prewarm({ options = {} }: StartupOptions = {}): Promise<SpareProcess> {
  checkOptions(options);
  const now = (): number => options.host?.clock?.now() ?? Date.now();
  const [begunAt, claimed, exited] = [now(), deferred<Claimed>(), deferred<void>()];
  claimed.promise.catch(() => {});
  let begun: Query | "closed" | undefined;
  const close = (): void => {
    if (typeof begun === "object") begun.close();
    begun = "closed";
    claimed.reject(new Error("prewarm: it is closed, so no session was started"));
    exited.resolve();
  };
  return disposable({
    claim({ prompt, options: own }: { prompt: QueryPrompt; options: ClaimOptions }): Query {
      if (begun !== undefined) throw new TypeError(`prewarm: claim() ${used(begun)}; call prewarm() again`);
      const all = claimedOptions(options, own);
      const made = query({ prompt, options: all });
      begun = made;
      const parkedMs = now() - begunAt;
      return watchedBy(made, {
        onFirst: (sessionId) =>
          claimed.resolve({ cwd: all.cwd ?? "/", sessionId, parkedMs, sdkMcpSettled: true }),
        onEnd: (error) => {
          claimed.reject(error ?? new Error("prewarm: the query has ended before its first message"));
          exited.resolve();
        },
      });
    },
    claimed: claimed.promise,
    exited: exited.promise,
    close,
  });
}

type Claimed = Awaited<SpareProcess["claimed"]>;

const used = (begun: Query | "closed"): string =>
  begun === "closed" ? "comes after close()" : "can be called once";

/** The options of both; those of the session win. */
function claimedOptions(options: Options, own: ClaimOptions): Options {
  const { appendSystemPrompt, maxThinkingTokens, env, agents, ...more } = own;
  const { systemPrompt = [] } = options;
  const texts =
    typeof systemPrompt === "string" || Array.isArray(systemPrompt) ? [systemPrompt].flat() : undefined;
  const preset = systemPrompt as { append?: string; prompt?: string | readonly string[] };
  const appended =
    texts !== undefined
      ? [...(texts as readonly string[]), appendSystemPrompt ?? ""]
      : preset.prompt !== undefined
        ? [...[preset.prompt].flat(), appendSystemPrompt ?? ""]
        : { ...preset, append: [preset.append, appendSystemPrompt].filter(Boolean).join("\n\n") };
  return joined<object, object>(options, {
    ...more,
    ...(env && { env: { ...options.env, ...env } }),
    ...(agents && { agents: { ...options.agents, ...agents } }),
    ...(maxThinkingTokens !== undefined && { maxThinkingTokens: maxThinkingTokens ?? 0 }),
    ...(appendSystemPrompt && { systemPrompt: appended }),
  }) as Options;
}

/** The query, which reports its first message and its end. */
function watchedBy(
  made: Query,
  { onFirst, onEnd }: { onFirst: (sessionId: string) => void; onEnd: (error?: unknown) => void },
): Query {
  const { next, return: leave } = made;
  made.next = async (...given) => {
    try {
      const step = await next.apply(made, given);
      if (step.done) onEnd();
      else onFirst(step.value.session_id);
      return step;
    } catch (error) {
      onEnd(error);
      throw error;
    }
  };
  made.return = async (...given) => {
    const step = await leave.apply(made, given);
    onEnd();
    return step;
  };
  return made;
}

function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let [resolve, reject] = [(_: T): void => {}, (_: unknown): void => {}];
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

function disposable<T extends { close(): void }>(methods: T): T & Disposed {
  const { asyncDispose } = Symbol as { asyncDispose?: symbol };
  if (asyncDispose === undefined) return methods as T & Disposed;
  return Object.assign(methods, { [asyncDispose]: async () => methods.close() }) as unknown as T & Disposed;
}
