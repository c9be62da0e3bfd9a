/** Properties as JSON Schema. */
import type { Property, PromptyTool } from "../types.js";

type Schema = { [keyword: string]: unknown };

const TYPES: { [kind: string]: string } = {
  float: "number",
  thread: "array",
  image: "string",
  file: "string",
  audio: "string",
};

/**
 * The schema of an object with these properties. A strict one is closed, and all of its properties are required: an
 * optional one may be `null`.
 */
export function objectSchema(properties: readonly Property[], isStrict = false): Schema {
  const required = properties
    .filter((property) => isStrict || property.required === true)
    .map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(properties.map((one) => [one.name, propertySchema(one, isStrict)])),
    ...(required.length === 0 ? {} : { required }),
    ...(isStrict ? { additionalProperties: false } : {}),
  };
}

function propertySchema(property: Omit<Property, "name">, isStrict: boolean, isItem = false): Schema {
  const { kind = "string", description, enumValues, items, properties, required = false } = property;
  const type = TYPES[kind] ?? kind;
  const isNullable = isStrict && !required && !isItem;
  const object = properties === undefined ? {} : objectSchema(properties, isStrict);
  return {
    ...object,
    type: isNullable ? [type, "null"] : type,
    ...(description === undefined ? {} : { description }),
    ...(enumValues === undefined ? {} : { enum: isNullable ? [...enumValues, null] : enumValues }),
    ...(items === undefined ? {} : { items: propertySchema(items, isStrict, true) }),
  };
}

/** The schema of a tool's arguments as the model sees it: without the parameters that bindings fill. */
export function toolSchema({ parameters = [], bindings = {}, strict = false }: PromptyTool): Schema {
  return objectSchema(
    parameters.filter(({ name }) => !Object.hasOwn(bindings, name)),
    strict,
  );
}
