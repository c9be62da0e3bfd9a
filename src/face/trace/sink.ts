/** Where records go: a function, or anything with a `write`. What it returns is awaited only to report a rejection. */
export type Sink<T> = ((record: T) => unknown) | { write(record: T): unknown };

export function writer<T>(sink: Sink<T>): (record: T) => unknown {
  return typeof sink === "function" ? sink : (record) => sink.write(record);
}

/** A sink that writes each record as a line of JSON: `traceRows(ndjson((line) => file.write(line)))`. */
export function ndjson(write: (line: string) => unknown): (record: object) => unknown {
  return (record) => write(`${JSON.stringify(record)}\n`);
}
