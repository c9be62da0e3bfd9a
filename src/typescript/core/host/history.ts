/** The long part of a run's result, its calls and messages, which is parsed when it is first read. */

/** The engine's `History`, as its JSON has it. */
export interface History {
  toolCalls: unknown[];
  messages: unknown[];
  subagents: { agentPath: string; messages: unknown[] }[];
}

/** The heads of histories (see the engine's `Head`), by the last message of each. No result shows them. */
const heads = new WeakMap<object, { head: unknown; messages: number }>();

/** The head of the run whose messages these are, for the next run. Undefined for messages of another source. */
export function headOf(messages: readonly unknown[]): unknown {
  const known = heads.get(Object(messages.at(-1)) as object);
  return known?.messages === messages.length ? known.head : undefined;
}

/** Takes the head out of a conversation, and keeps it for {@link headOf}. */
function withoutHead<T extends { messages: unknown[]; head?: unknown }>({
  head,
  ...rest
}: T): Omit<T, "head"> {
  const last = rest.messages.at(-1);
  if (head !== undefined && last !== undefined)
    heads.set(last as object, { head, messages: rest.messages.length });
  return rest;
}

/** Adds the history, which `bytes` hold as JSON. It may be megabytes, and often it is never read. */
export function withHistory<T extends History>(result: T, bytes: Uint8Array): T {
  for (const name of ["toolCalls", "messages", "subagents"] as const) {
    const get = (): History[typeof name] => {
      const all = withoutHead(JSON.parse(new TextDecoder().decode(bytes)) as History);
      all.subagents = all.subagents.map(withoutHead);
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
