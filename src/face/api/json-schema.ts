/**
 * The type that a JSON Schema literal describes, worked out by the compiler: `tool()` infers its `execute` argument
 * with it, without `as const`.
 */

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
 * Understands `type` (one or several), `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`,
 * `anyOf` and `oneOf`. Everything else, and a schema whose literal type is not known, gives `unknown`.
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
