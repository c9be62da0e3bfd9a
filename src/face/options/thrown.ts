/** Describes a value that your code has thrown. */

/** A thrown value as a message. */
export function message(thrown: unknown): string {
  if (thrown instanceof Error)
    return thrown.message === "" ? `${thrown.name} without a message` : thrown.message;
  if (thrown === undefined || thrown === null) return `${thrown} was thrown`;
  if (typeof thrown === "string") return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return "something that cannot be shown";
  }
}
