/** Describes a value that your code has thrown. */

/** Whether a value is an `Error`, also one of another realm: of an iframe, of `node:vm`. Never throws. */
export function isErrorObject(value: unknown): value is Error {
  try {
    const { isError } = Error as { isError?: (value: unknown) => boolean };
    if (value instanceof Error || isError?.(value) === true) return true;
    return Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    return false;
  }
}

/** A thrown value as a message. Never throws, even for an error whose fields cannot be read. */
export function message(thrown: unknown): string {
  try {
    if (isErrorObject(thrown))
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
