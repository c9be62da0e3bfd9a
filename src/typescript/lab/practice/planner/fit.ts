/** Brings values within the limits of a JSON Schema: numbers and texts that were found in a prompt, or made up. */

/** The value nearest to `value` that `schema` takes. `words` are the texts to choose from where a pattern is asked for. */
export function fit(value: unknown, schema: any, words: readonly string[]): unknown {
  if (schema.const !== undefined || Array.isArray(schema.enum)) return value;
  if (typeof value === "number") return fitNumber(value, schema);
  return typeof value === "string" ? fitText(value, schema, words) : value;
}

function fitNumber(value: number, schema: any): number {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, type } = schema;
  const step = schema.multipleOf ?? ([type].flat().includes("integer") ? 1 : 0);
  const low = exclusiveMinimum === undefined ? minimum : Math.max(minimum, exclusiveMinimum + (step || 1));
  const high = exclusiveMaximum === undefined ? maximum : Math.min(maximum, exclusiveMaximum - (step || 1));
  // Between open limits that lie closer together than 2 there is only their middle.
  const within =
    low > high ? (exclusiveMinimum + exclusiveMaximum) / 2 : Math.min(Math.max(value, low), high);
  if (step === 0) return within;
  const above = Math.ceil(within / step) * step;
  return above <= high ? above : Math.floor(within / step) * step;
}

function fitText(
  value: string,
  { format, pattern, minLength = 0, maxLength }: any,
  words: readonly string[],
): string {
  const [form, sample] = FORMATS[format] ?? [undefined, value];
  const formed =
    form === undefined || form.test(value) ? value : (words.find((word) => form.test(word)) ?? sample);
  if (typeof pattern === "string") {
    const samples = Object.values(FORMATS).map(([, sample]) => sample);
    return (
      [formed, ...words, ...samples, "a", "A", "0", "AAA", "000"].find((one) => fits(one, pattern)) ?? formed
    );
  }
  const characters = [...formed];
  return characters.length < minLength
    ? formed.padEnd(formed.length + minLength - characters.length, ".")
    : characters.slice(0, maxLength).join("");
}

function fits(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

/** Forms of texts, each with a sample of it. */
const FORMATS: { [format: string]: readonly [form: RegExp, sample: string] } = {
  date: [/^\d{4}-\d\d-\d\d$/, "2026-01-01"],
  time: [/^\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/, "12:00:00Z"],
  "date-time": [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, "2026-01-01T12:00:00Z"],
  email: [/^[^\s@]+@[^\s@]+\.\w+$/, "ada@example.org"],
  uri: [/^[a-z]+:\/\/\S+$/i, "https://example.org/"],
  uuid: [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, "00000000-0000-4000-8000-000000000000"],
  ipv4: [/^\d+(?:\.\d+){3}$/, "192.0.2.1"],
};
