/** The long part of a run's result: its calls and messages, read when they are first asked for. */
import type { RawRunResult } from "./driver.js";

/** Puts in what `bytes` hold as JSON: it may be megabytes, and often nobody looks at it. */
export function withHistory(result: RawRunResult, bytes: Uint8Array): RawRunResult {
  for (const name of ["toolCalls", "messages", "subagents"] as const) {
    const get = (): unknown[] => {
      const all = JSON.parse(new TextDecoder().decode(bytes)) as RawRunResult;
      const { toolCalls, messages, subagents } = all;
      for (const [key, value] of Object.entries({ toolCalls, messages, subagents }))
        Object.defineProperty(result, key, { value, writable: true });
      return result[name];
    };
    Object.defineProperty(result, name, { get, enumerable: true, configurable: true });
  }
  return result;
}
