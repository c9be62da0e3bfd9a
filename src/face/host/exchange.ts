/** Brings the return values and errors of your functions around a request into one form. */

/** The fields of a `Headers`, of an object with its methods, of pairs or of a plain object. */
export function headerPairs(headers: unknown): [string, string][] {
  return Array.from(entriesOf(headers), ([name, value]) => [String(name), String(value)]);
}

function entriesOf(headers: unknown): Iterable<[string, string]> {
  if (headers === null || typeof headers !== "object") return [];
  const { entries, forEach } = headers as Partial<Headers>;
  if (Symbol.iterator in headers) return headers as Iterable<[string, string]>;
  if (typeof entries === "function") return entries.call(headers as Headers);
  if (typeof forEach !== "function") return Object.entries(headers as { [name: string]: string });
  const pairs: [string, string][] = [];
  forEach.call(headers as Headers, (value, name) => pairs.push([name, value]));
  return pairs;
}

/** Checks the headers of `authorize`. Unlike a response's they can be wrong, and are then a mistake in your code. */
export function textPairs(pairs: Iterable<[string, string]>): [string, string][] {
  return Array.from(pairs, ([name, value]) => {
    if (typeof name !== "string" || typeof value !== "string")
      throw new TypeError("authorize must return pairs of strings");
    return [name, value];
  });
}

/** Releases the connection of a response that nobody waits for any more. */
export function discard(response: unknown): void {
  const body = (response as { body?: Partial<ReadableStream> } | undefined)?.body;
  if (typeof body?.cancel !== "function" || body.locked) return;
  void (async () => body.cancel!())().catch(() => {});
}

/** One line about a thrown value, with its causes. */
export function describe(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const { name, message, cause } = error as Partial<Error>;
  if (message === undefined) return name ?? Object.prototype.toString.call(error);
  const text = name && name !== "Error" ? `${name}: ${message}` : message;
  return cause === undefined || cause === null ? text : `${text} (${describe(cause)})`;
}
