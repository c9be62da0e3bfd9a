/** The values of templates, as Jinja takes them. What a value costs to read is counted, because an input can be large. */
import type { Effort } from "./effort.js";

export function isTruthy(value: unknown, effort: Effort): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return namesOf(value, effort).length > 0;
  return !!value;
}

/** The names of a mapping. */
export function namesOf(map: object, effort: Effort): string[] {
  const names = Object.keys(map);
  effort.list(names);
  return names;
}

/** A text as a template prints it. */
export function printed(value: unknown, effort: Effort): string {
  if (value === undefined || value === null) return "";
  if (value === true) return "True";
  if (value === false) return "False";
  const text = typeof value === "object" ? (JSON.stringify(value) ?? "") : String(value as string);
  effort.look(text);
  return text;
}

/** The number that a value is or that its text names, else `NaN`, for a list and a mapping too. */
export function numberOf(value: unknown, effort: Effort): number {
  if (typeof value === "object" && value !== null) return NaN;
  effort.look(value);
  return Number(value);
}
