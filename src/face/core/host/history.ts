/** The long part of a run's result, its calls and messages, which is parsed when it is first read. */

/** The engine's `History`, as its JSON has it. */
export interface History {
  toolCalls: unknown[];
  messages: unknown[];
  subagents: unknown[];
}

/** The heads of histories (see the engine's `Head`), by the last message of each. No result shows them. */
const heads = new WeakMap<object, { head: unknown; messages: number }>();

/** The head of the run whose messages these are, for the next run. Undefined for messages of another source. */
export function headOf(messages: readonly unknown[]): unknown {
  const known = heads.get(Object(messages.at(-1)) as object);
  return known?.messages === messages.length ? known.head : undefined;
}

/** Adds the history, which `bytes` hold as JSON. It may be megabytes, and often nobody reads it. */
export function withHistory<T extends History>(result: T, bytes: Uint8Array): T {
  for (const name of ["toolCalls", "messages", "subagents"] as const) {
    const get = (): unknown[] => {
      const { head, ...all } = JSON.parse(new TextDecoder().decode(bytes)) as History & { head?: unknown };
      const last = all.messages.at(-1);
      if (head !== undefined && last !== undefined)
        heads.set(last as object, { head, messages: all.messages.length });
      for (const [key, value] of Object.entries(all))
        Object.defineProperty(result, key, { __proto__: null, value, writable: true } as PropertyDescriptor);
      return result[name];
    };
    Object.defineProperty(result, name, {
      __proto__: null,
      get,
      enumerable: true,
      configurable: true,
    } as PropertyDescriptor);
  }
  return result;
}
