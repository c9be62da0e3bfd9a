import { ValueError } from "../errors.js";
import { checkedMap, isMap } from "./frontmatter.js";
import type { Property } from "../types.js";

/** Properties from a list of them, or from a map of names to properties or default values. */
export function propertiesOf(given: unknown, field: string): Property[] {
  if (given === undefined || given === null) return [];
  const list: unknown = isMap(given)
    ? Object.entries(given).map(([name, value]) =>
        isMap(value) ? { ...value, name } : { name, kind: kindOf(value), default: value },
      )
    : given;
  if (!Array.isArray(list)) throw new ValueError(`invalid frontmatter: ${field} needs a list`);
  return list.map((property: unknown, at) => {
    if (!isMap(property) || typeof property["name"] !== "string")
      throw new ValueError(`invalid frontmatter: ${field}[${at}] needs a name`);
    return propertyOf(property, `${field}[${at}]`) as Property;
  });
}

const PROPERTY = {
  name: "a text",
  kind: "a text",
  description: "a text",
  required: "true or false",
  strict: "true or false",
  enumValues: "a list",
  items: "a mapping",
} as const;

/** A property, or the items of one, which need no name. */
function propertyOf(given: { [field: string]: unknown }, place: string): Omit<Property, "name"> {
  const property = checkedMap(given, place, PROPERTY);
  const { kind = kindOf(property["default"]), properties, items } = property;
  return {
    ...property,
    kind: String(kind),
    ...(isMap(items) ? { items: propertyOf(items, `${place}.items`) } : {}),
    ...(properties === undefined ? {} : { properties: propertiesOf(properties, `${place}.properties`) }),
  };
}

/** The kind of a default value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  if (typeof value === "boolean") return "boolean";
  return isMap(value) ? "object" : "string";
}
