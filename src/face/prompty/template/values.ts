/** The values of templates, as Jinja takes them. */

export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return !!value;
}

/** A text as a template prints it. */
export function printed(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value === true) return "True";
  if (value === false) return "False";
  return typeof value === "object" ? (JSON.stringify(value) ?? "") : String(value as string);
}
