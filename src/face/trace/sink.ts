import { describe } from "../check.js";
import { LoopletError } from "../errors.js";

/** Where records go: a function, or anything with a `write`. What it returns is awaited only to report a rejection. */
export type Sink<T> = ((record: T) => unknown) | { write(record: T): unknown };

export function writer<T>(sink: Sink<T>): (record: T) => unknown {
  if (typeof sink !== "function" && typeof (sink as { write?: unknown } | undefined)?.write !== "function") {
    const problem = `needs a function or an object with write(record), got ${describe(sink)}`;
    throw new LoopletError("config_wrong_type", "trace", problem);
  }
  return typeof sink === "function" ? sink : (record) => sink.write(record);
}

/** A sink that writes each record as a line of JSON: `traceRows(ndjson((line) => file.write(line)))`. */
export function ndjson(write: (line: string) => unknown): (record: object) => unknown {
  return (record) => write(`${JSON.stringify(record)}\n`);
}
