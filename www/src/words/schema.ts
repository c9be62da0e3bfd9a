/** Validates an input that the user wrote, with readable messages. A tool gets an edited input unchanged. */

interface Schema {
  type?: string;
  properties?: Record<string, { type?: string }>;
  required?: readonly string[];
  additionalProperties?: unknown;
}

/** The first violation of `schema` in `input` that this page can detect, or `undefined`. */
export function mismatch(schema: unknown, input: object): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { properties = {}, required = [], additionalProperties } = schema as Schema;
  const fields = Object.entries(input);
  const known = Object.keys(properties);
  const missing = required.find((name) => !(name in input));
  if (missing !== undefined) return `The field "${missing}" is missing.`;
  for (const [name, value] of fields) {
    const wanted = properties[name]?.type;
    if (!(name in properties) && additionalProperties === false)
      return `The tool has no field "${name}"${known.length ? `, only ${known.map((field) => `"${field}"`).join(", ")}` : ""}.`;
    if (wanted !== undefined && !isOf(wanted, value))
      return `The field "${name}" takes ${article(wanted)}, not ${shown(value)}.`;
  }
  return undefined;
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

const article = (type: string) => `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 40) ?? "nothing";
