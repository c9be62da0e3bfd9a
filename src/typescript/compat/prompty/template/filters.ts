import { ValueError } from "../errors.js";
import type { Effort } from "./effort.js";
import { namesOf, printed } from "./values.js";

/** A filter of the Jinja subset. @throws ValueError for an unknown one */
export function applyFilter(name: string, value: unknown, [first]: unknown[], effort: Effort): unknown {
  switch (name) {
    case "default":
    case "d":
      return value === undefined ? first : value;
    case "upper":
      return printed(value, effort).toUpperCase();
    case "lower":
      return printed(value, effort).toLowerCase();
    case "trim":
      return printed(value, effort).trim();
    case "join":
      return Array.isArray(value) ? joined(value, printed(first, effort), effort) : printed(value, effort);
    case "length":
    case "count":
      if (Array.isArray(value) || typeof value === "string") return value.length;
      return typeof value === "object" && value !== null ? namesOf(value, effort).length : 0;
    default:
      throw new ValueError(`Unknown template filter: ${name}`);
  }
}

function joined(items: unknown[], between: string, effort: Effort): string {
  let length = 0;
  const texts = items.map((item) => {
    const text = printed(item, effort);
    length += text.length + between.length;
    effort.checkLength(length);
    return text;
  });
  const text = texts.join(between);
  effort.look(text);
  return text;
}
