/** Describes a value that your code has thrown. */

/** A thrown value as a message. Never throws, even for an error whose fields cannot be read. */
export function message(thrown: unknown): string {
  try {
    if (thrown instanceof Error)
      return thrown.message === "" ? `${thrown.name} without a message` : String(thrown.message);
    if (thrown === undefined || thrown === null) return `${thrown} was thrown`;
    if (typeof thrown === "string") return thrown;
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return "something that cannot be shown";
  }
}

/** The stack of an error; undefined if there is none, or if reading it throws. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    const stack: unknown = (thrown as Partial<Error> | undefined)?.stack;
    return typeof stack === "string" ? stack : undefined;
  } catch {
    return undefined;
  }
}
