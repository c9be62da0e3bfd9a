/** Structured output: what an answer must be. */
import type { InputOf, InputSchema } from "./index.js";

/** Every answer must be JSON of a schema: it is checked, and asked for again if it does not fit. */
export interface OutputFormat<S extends InputSchema = InputSchema> {
  /** A JSON Schema whose `type` is `"object"`, or a Standard Schema (zod, arktype, valibot). Required. */
  schema: S;
  /** The schema's name for the vendor, and that of the tool in tool mode. Default `"answer"`. */
  name?: string | undefined;
  /** What the answer is, for the model; used in tool mode. Default: none. */
  description?: string | undefined;
  /**
   * `"native"`: the vendor enforces the schema on the answer's text. `"tool"`: the model answers by calling a tool that
   * looplet adds and nobody else sees. Default `"auto"`: natively where the vendor is known to enforce this schema.
   */
  mode?: "auto" | "native" | "tool" | undefined;
  /** In native mode: the vendor's strict mode, where it can choose. Default: if the schema is one that it takes. */
  strict?: boolean | undefined;
  /**
   * Contract: called with each answer that fits the schema; a text that it returns says what is wrong with it and goes
   * to the model. What it throws counts as such a text.
   */
  validate?: ((output: InputOf<S>) => string | undefined | PromiseLike<string | undefined>) | undefined;
}

/** A value that is still being written. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;
