/** The long part of a run's result, its calls and messages, which is parsed when it is first read. */

/** The engine's `History`, as its JSON has it. */
export interface History {
  toolCalls: unknown[];
  messages: unknown[];
  subagents: unknown[];
}

/** Adds the history, which `bytes` hold as JSON. It may be megabytes, and often nobody reads it. */
export function withHistory<T extends History>(result: T, bytes: Uint8Array): T {
  for (const name of ["toolCalls", "messages", "subagents"] as const) {
    const get = (): unknown[] => {
      const all = JSON.parse(new TextDecoder().decode(bytes)) as History;
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
