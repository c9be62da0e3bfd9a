import { ValueError } from "../errors.js";
import { printed } from "./values.js";

/** A filter of the Jinja subset. @throws ValueError for an unknown one */
export function applyFilter(name: string, value: unknown, [first]: unknown[]): unknown {
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
      return Array.isArray(value)
        ? value.map(printed).join(first === undefined ? "" : printed(first))
        : printed(value);
    case "length":
    case "count":
      if (Array.isArray(value) || typeof value === "string") return value.length;
      return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
    default:
      throw new ValueError(`Unknown template filter: ${name}`);
  }
}
