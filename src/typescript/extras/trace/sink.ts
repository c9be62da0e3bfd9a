import { LoopletError } from "../../core/api/errors.js";
import type { Trace } from "../../core/api/index.js";
import { checkValue, describe } from "../../core/kit/check.js";

/**
 * The place for records: a function, or an object with a `write`. A promise that it returns is awaited only to report
 * a rejection.
 */
export type Sink<T> = ((record: T) => unknown) | { write(record: T): unknown };

/** Makes traces that write to a sink. A step may write several records, and every error is reported. */
export function tracing<T>(sink: Sink<T>): (make: (write: (record: T) => void) => Trace) => Trace {
  const write = writer(sink);
  return (make) => {
    let open: PromiseLike<unknown>[] = [];
    const trace = make((record) => {
      const written = write(record) as PromiseLike<unknown> | null | undefined;
      if (typeof written?.then === "function") open.push(written);
    });
    const step = (tell: () => unknown): unknown => {
      try {
        tell();
      } catch (error) {
        open.push(Promise.reject(error));
      }
      const all = open;
      open = [];
      return all.length === 0 ? undefined : Promise.all(all);
    };
    return {
      onEvent: (event) => step(() => trace.onEvent(event)),
      onToolThrow: (toolCallId, thrown) => step(() => trace.onToolThrow?.(toolCallId, thrown)),
      onEnd: (result) => step(() => trace.onEnd?.(result)),
    };
  };
}

function writer<T>(sink: Sink<T>): (record: T) => unknown {
  if (typeof sink !== "function" && typeof (sink as { write?: unknown } | undefined)?.write !== "function") {
    const problem = `needs a function or an object with write(record), got ${describe(sink)}`;
    throw new LoopletError("config_wrong_type", "trace", problem);
  }
  return typeof sink === "function" ? sink : (record) => sink.write(record);
}

/**
 * A sink that writes each record as a line of JSON: `traceRows(ndjson((line) => file.write(line)))`.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { ndjson, traceRows } from "looplet/trace";
 *
 * const lines: string[] = [];
 * const trace = traceRows(ndjson((line) => lines.push(line)));
 * await createAgent({ model: custom(() => Promise.resolve("Hello.")), trace }).run("Hi").result;
 * ```
 *
 * @throws LoopletError `config_wrong_type`
 */
export function ndjson(write: (line: string) => unknown): (record: object) => unknown {
  checkValue(write, "ndjson", "function");
  return (record) => write(`${JSON.stringify(record)}\n`);
}
