/** The TypeScript's part in structured output: the format for the engine, the checks by your code, partial values. */
import type { OutputFormat } from "../api/result.js";
import type { OutputFormat as EngineFormat } from "../generated/input.js";
import { OUTPUT_DATA } from "../generated/tables.js";
import { LoopletError } from "../api/errors.js";
import { checkOptions, isObject, joined } from "../options/check.js";
import { checkSchemaName } from "../models/model-options.js";
import { OUTPUT_TABLE, given } from "../options/options.js";
import { PartialJson } from "./partial-json.js";
import { inputJsonSchema, isRawShape, isStandardSchema, issuesInWords } from "./tool-schema.js";

/**
 * The engine's part of the option, as JSON.
 *
 * @throws LoopletError `config_…`
 */
export function outputConfig(output: OutputFormat | undefined): EngineFormat | undefined {
  if (output === undefined) return undefined;
  const format = checkFormat(output);
  const { schema, name, validate } = format;
  checkSchemaName(name, "output.name");
  const isStandard = isStandardSchema(schema);
  return {
    ...given(format, OUTPUT_DATA),
    schema: inputJsonSchema(schema, "output.schema"),
    validate: !isStandard,
    ask: isStandard || validate !== undefined,
  };
}

/** Receives a chunk of an answer's text. */
export type HearText = (iteration: number, attempt: number, block: number, text: string) => unknown;

/** Checks the names of the option. A schema in its place is the usual mistake. */
function checkFormat(output: OutputFormat): OutputFormat {
  const isSchema =
    isStandardSchema(output) || (isObject(output) && ("_def" in output || "properties" in output));
  if (isObject(output) && !Object.hasOwn(output, "schema") && isRawShape(output)) {
    const shape = "is the shape of an object, not its schema; write output: { schema: z.object({ … }) }";
    throw new LoopletError("config_wrong_type", "output", shape);
  }
  if (!isSchema) return checkOptions(output, "output", OUTPUT_TABLE);
  const problem = "is a schema; pass it as output: { schema }";
  throw new LoopletError("config_wrong_type", "output", problem);
}

type Formatted = { readonly output?: OutputFormat | undefined };

/** Checks the answers of one run. */
export class StructuredOutput {
  readonly #profiles: readonly Formatted[];
  /** The run's last valid answer. It stays here because a transform may have made a value that JSON cannot hold. */
  #checked: { value: unknown } | undefined;

  constructor(profiles: readonly Formatted[]) {
    this.#profiles = profiles;
  }

  /** The run's output, in place of the engine's JSON of it. */
  value(raw: unknown): unknown {
    if (raw === null) return undefined;
    return this.#checked === undefined ? raw : this.#checked.value;
  }

  /** Checks an answer against the schema and `validate` of the agent at this index. */
  async check(written: unknown, profile: number): Promise<{ problem?: string; output?: unknown }> {
    const { schema, validate } = joined(this.#profiles[profile]!.output);
    let value = written;
    if (isStandardSchema(schema)) {
      const result = await schema["~standard"].validate(written);
      if (result.issues !== undefined) return { problem: issuesInWords(result.issues) };
      value = result.value;
    }
    const problem: unknown = await validate?.(value as never);
    if (typeof problem === "string") return { problem };
    if (profile === 0) this.#checked = { value };
    return { output: jsonOr(value, written) };
  }
}

/** The value, or the model's own JSON if JSON cannot hold the value. The run's state gets the return value. */
function jsonOr(value: unknown, written: unknown): unknown {
  try {
    return JSON.stringify(value) === undefined ? written : value;
  } catch {
    return written;
  }
}

/** Makes a function that passes the partial value of the current answer to `listener`; undefined without a listener. */
export function partialOutput(listener: ((partial: never) => void) | undefined): HearText | undefined {
  if (listener === undefined) return undefined;
  let place = "";
  let json = new PartialJson();
  return (iteration, attempt, block, text) => {
    const now = `${iteration} ${attempt} ${block}`;
    if (now !== place) {
      place = now;
      json = new PartialJson();
    }
    return json.feed(text) ? (listener(json.value as never) as unknown) : undefined;
  };
}
