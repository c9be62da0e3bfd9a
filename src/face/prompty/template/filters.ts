import { ValueError } from "../errors.js";
import type { Effort } from "./effort.js";
import { printed } from "./values.js";

/** A filter of the Jinja subset. @throws ValueError for an unknown one */
export function applyFilter(name: string, value: unknown, [first]: unknown[], effort: Effort): unknown {
  switch (name) {
    case "default":
    case "d":
      return value === undefined ? first : value;
    case "upper":
      return printed(value).toUpperCase();
    case "lower":
      return printed(value).toLowerCase();
    case "trim":
      return printed(value).trim();
    case "join":
      return Array.isArray(value) ? joined(value, printed(first), effort) : printed(value);
    case "length":
    case "count":
      if (Array.isArray(value) || typeof value === "string") return value.length;
      return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
    default:
      throw new ValueError(`Unknown template filter: ${name}`);
  }
}

function joined(items: unknown[], between: string, effort: Effort): string {
  let length = 0;
  const texts = items.map((item) => {
    const text = printed(item);
    length += text.length + between.length;
    effort.checkLength(length);
    return text;
  });
  const text = texts.join(between);
  effort.look(text);
  return text;
}
