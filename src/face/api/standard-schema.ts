/**
 * The types of Standard Schema and of Standard JSON Schema (https://standardschema.dev, spec 1.1.0, read 2026-11-20),
 * written out here so that looplet needs no dependency. A schema of zod 4.2+, arktype 2.1.28+ or of valibot's
 * `toStandardJsonSchema()` fits both.
 */

/** What both specifications share: the version, the library's name and the inferred types. */
export interface StandardTypedV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardTypedProps<Input, Output>;
}

export interface StandardTypedProps<Input = unknown, Output = Input> {
  readonly version: 1;
  /** Name of the schema library. */
  readonly vendor: string;
  /** Exists for type inference only. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** A schema that can check a value. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardTypedProps<Input, Output> & {
    readonly validate: (
      value: unknown,
      options?: { readonly libraryOptions?: Record<string, unknown> | undefined } | undefined,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

/** The outcome of a check: a value, or issues. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that can be written as JSON Schema. */
export interface StandardJSONSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardTypedProps<Input, Output> & {
    readonly jsonSchema: {
      /** May throw when a part of the schema has no JSON Schema form. */
      readonly input: (options: StandardJSONSchemaOptions) => Record<string, unknown>;
      readonly output: (options: StandardJSONSchemaOptions) => Record<string, unknown>;
    };
  };
}

export interface StandardJSONSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | ({} & string);
  readonly libraryOptions?: Record<string, unknown> | undefined;
}
