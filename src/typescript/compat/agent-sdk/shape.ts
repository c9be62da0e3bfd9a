/** The fields of an object as a schema: the form in which the Claude Agent SDK takes the inputs of tools. */
import type {
  InputOf,
  InputSchema,
  StandardIssue,
  StandardJSONSchemaV1,
  StandardSchemaV1,
} from "../../core/api/index.js";
import { isStandardSchema } from "../../core/kit/tools.js";

type FieldSchema = StandardSchemaV1 & StandardJSONSchemaV1;

/** Fields by name, each a schema of zod 4.2+, of arktype, or of valibot's `toStandardJsonSchema`. */
export interface InputShape {
  readonly [name: string]: FieldSchema;
}

/** Fields of zod and of other libraries, by the name of the SDK. */
export type AnyZodRawShape = InputShape;

/** What a handler gets for such fields. */
export type InferShape<S extends InputShape> = ArgsOf<S>;

/** What a handler gets: the output of a schema, or an object with the outputs of the fields. */
export type ArgsOf<S> = S extends InputShape ? Flat<Needed<S> & Partial<Left<S>>> : InputOf<S>;

type Flat<T> = { [K in keyof T]: T[K] };
type Needed<S> = { -readonly [K in keyof S as undefined extends InputOf<S[K]> ? never : K]: InputOf<S[K]> };
type Left<S> = { -readonly [K in keyof S as undefined extends InputOf<S[K]> ? K : never]: InputOf<S[K]> };

/** Whether each value is a schema; an empty object is the shape of a tool without inputs. */
export function isShape(schema: InputSchema | InputShape): schema is InputShape {
  return !isStandardSchema(schema) && Object.values(schema).every(isStandardSchema);
}

/** The schema of an object with these fields. A field that takes `undefined` may be left out. */
export function schemaOfShape(shape: InputShape): FieldSchema {
  const fields = Object.entries(shape);
  const written = (direction: "input" | "output") => (options: { readonly target: string }) => ({
    type: "object",
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, field["~standard"].jsonSchema[direction](options)]),
    ),
    required: fields.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
  });
  return {
    "~standard": {
      version: 1,
      vendor: "looplet",
      jsonSchema: { input: written("input"), output: written("output") },
      validate: async (value) => {
        const given = (value ?? {}) as { readonly [name: string]: unknown };
        const checked = await Promise.all(
          fields.map(
            async ([name, field]) => [name, await field["~standard"].validate(given[name])] as const,
          ),
        );
        const issues = checked.flatMap(([name, { issues = [] }]) =>
          issues.map((issue) => below(name, issue)),
        );
        if (issues.length > 0) return { issues };
        const values = checked.flatMap(([name, result]) =>
          "value" in result && result.value !== undefined ? [[name, result.value]] : [],
        );
        return { value: Object.fromEntries(values) };
      },
    },
  };
}

/** A schema that answers later is taken as one that needs its value. */
function isOptional(field: FieldSchema): boolean {
  const result = field["~standard"].validate(undefined);
  return "then" in result ? (void result.then(undefined, () => {}), false) : result.issues === undefined;
}

const below = (name: string, { message, path = [] }: StandardIssue): StandardIssue => ({
  message,
  path: [name, ...path],
});
