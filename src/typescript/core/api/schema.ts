/**
 * The schemas of tool inputs and structured answers. The compiler works out the type that a JSON Schema literal
 * describes, and `tool()` infers its `execute` argument with it, without `as const`.
 *
 * The types of Standard Schema and of Standard JSON Schema (https://standardschema.dev, spec 1.1.0, read 2026-11-20)
 * are written out here, so that looplet needs no dependency. A schema of zod 4.2+, arktype 2.1.28+ or of valibot's
 * `toStandardJsonSchema()` fits both.
 */

/** A JSON Schema object, or a Standard Schema that can also be written as JSON Schema (zod, arktype, valibot). */
export type InputSchema = JsonSchema | (StandardSchemaV1 & StandardJSONSchemaV1);

/**
 * The type of `execute`'s first argument: the output type of a Standard Schema, or the type that a JSON Schema
 * literal describes.
 */
export type InputOf<S> = 0 extends 1 & S
  ? any
  : S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer O }
      ? O
      : unknown
    : FromJsonSchema<S>;

/** The type of the input as the model writes it: the input type of a Standard Schema, else as `InputOf`. */
export type WrittenOf<S> = 0 extends 1 & S
  ? unknown
  : S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly input: infer I }
      ? I
      : unknown
    : FromJsonSchema<S>;

/**
 * The type of a tool's result in events, from the type of its `execute`: the returned value as JSON has it. A result
 * that becomes anything else, for example media or a `Map`, is `unknown`.
 */
export type OutputOf<E> =
  NonNullable<E> extends (...of: any) => infer R
    ? EmittedOutput<
        Awaited<R extends AsyncGenerator<any, infer V, any> | Generator<any, infer V, any> ? V : R>
      >
    : unknown;

type EmittedOutput<V> = unknown extends V
  ? unknown
  : V extends undefined | void
    ? ""
    : V extends { readonly content: readonly unknown[] }
      ? unknown
      : JsonOf<V>;

type JsonOf<V> = unknown extends V
  ? V
  : V extends string | number | boolean | null | undefined
    ? V
    : V extends { toJSON(...of: any): infer J }
      ? JsonOf<J>
      : V extends readonly unknown[]
        ? { [I in keyof V]: JsonOf<V[I]> }
        : V extends bigint | symbol | Function | Error | ArrayBuffer | Iterable<unknown>
          ? unknown
          : { [K in keyof V]: JsonOf<V[K]> };

/** A JSON Schema object (draft-07 or 2020-12). */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: unknown };
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/**
 * The TypeScript type of the values that the schema literal `S` accepts.
 *
 * The keywords `type` (one or several), `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`,
 * `anyOf` and `oneOf` count. Any other schema, and one whose literal type is not known, gives `unknown`.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: infer E extends readonly unknown[] }
    ? E[number]
    : S extends { readonly anyOf: infer A extends readonly unknown[] }
      ? AnyOf<A>
      : S extends { readonly oneOf: infer A extends readonly unknown[] }
        ? AnyOf<A>
        : S extends { readonly type: infer T }
          ? OfType<T, S>
          : unknown;

type AnyOf<A extends readonly unknown[]> = { [I in keyof A]: FromJsonSchema<A[I]> }[number];

type OfType<T, S> = T extends readonly (infer Each)[]
  ? OfOneType<Each, S>
  : string extends T
    ? unknown
    : OfOneType<T, S>;

type OfOneType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? FromJsonSchema<I>[]
            : unknown[]
          : T extends "object"
            ? OfObject<S>
            : unknown;

type OfObject<S> = S extends { readonly properties: infer P }
  ? S extends { readonly required: infer R extends readonly string[] }
    ? Flat<
        { -readonly [K in keyof P as K extends R[number] ? K : never]: FromJsonSchema<P[K]> } & {
          -readonly [K in keyof P as K extends R[number] ? never : K]?: FromJsonSchema<P[K]>;
        }
      >
    : { -readonly [K in keyof P]?: FromJsonSchema<P[K]> }
  : S extends { readonly additionalProperties: infer A extends object }
    ? { [name: string]: FromJsonSchema<A> }
    : { [name: string]: unknown };

type Flat<T> = { [K in keyof T]: T[K] };

/** The part that both specifications share: the version, the library's name and the inferred types. */
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
