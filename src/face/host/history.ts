/** The long part of a run's result: its calls and messages, read when they are first asked for. */

/** The engine's `History`, as its JSON has it. */
export interface History {
  toolCalls: unknown[];
  messages: unknown[];
  subagents: unknown[];
}

/** Puts in what `bytes` hold as JSON: it may be megabytes, and often nobody looks at it. */
export function withHistory<T extends History>(result: T, bytes: Uint8Array): T {
  for (const name of ["toolCalls", "messages", "subagents"] as const) {
    const get = (): unknown[] => {
      const all = JSON.parse(new TextDecoder().decode(bytes)) as History;
      for (const [key, value] of Object.entries(all))
        Object.defineProperty(result, key, { value, writable: true });
      return result[name];
    };
    Object.defineProperty(result, name, { get, enumerable: true, configurable: true });
  }
  return result;
}
