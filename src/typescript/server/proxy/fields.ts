/**
 * The names of a body's fields as any vendor may read them. Protobuf JSON accepts `max_output_tokens` for
 * `maxOutputTokens`, and a server in Go accepts `MODEL` and `ſtream`. A check of only one spelling could be bypassed.
 */
import { isObject } from "../../core/kit/check.js";
import type { Body } from "./protocols.js";

/** A name without its case, its separators and its variants of letters: `Max_Tokens` and `maxTokens` are one. */
export function folded(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]/g, "");
}

/** The objects of a body that the checks of a proxy look into. Their fields must be unambiguous. */
const CHECKED_OBJECTS = new Set(["generationconfig", "inferenceconfig", "toolconfig"]);

/** Bedrock's object for the fields of a model's own API: its names are as ambiguous as those of the body. */
const OWN_FIELDS = "additionalmodelrequestfields";

/** A body with folded names, as far as checks look into it, or what is ambiguous in it. */
export interface FoldedBody {
  readonly body: Body;
  /** A field that occurs in two spellings. */
  readonly double: string | undefined;
}

/** Folds the names at the top of a body and in the objects that are checked. */
export function foldedBody(given: Body): FoldedBody {
  let double: string | undefined;
  const fold = (object: Body, isTop: boolean): Body => {
    const fields: { [name: string]: unknown } = Object.create(null) as object as { [name: string]: unknown };
    for (const [name, value] of Object.entries(object)) {
      const own = folded(name);
      if (own in fields) double ??= name;
      const isChecked = isTop && (CHECKED_OBJECTS.has(own) || own === OWN_FIELDS);
      fields[own] = isChecked && isObject(value) ? fold(value as Body, false) : value;
    }
    return fields;
  };
  return { body: fold(given, true), double };
}

/** A spelling of a checked field that no vendor of the protocol documents. */
export function oddSpelling(
  body: Body,
  spellings: readonly string[],
  isProtobuf: boolean,
): string | undefined {
  const known = new Map(spellings.map((name) => [folded(name), name]));
  const isOdd = (name: string): boolean => {
    const own = known.get(folded(name));
    return own !== undefined && name !== own && !(isProtobuf && name === snake(own));
  };
  for (const [name, value] of Object.entries(body)) {
    if (isOdd(name)) return name;
    const inner = folded(name);
    // Bounds of the model's own fields count in every spelling.
    if (!isObject(value) || !CHECKED_OBJECTS.has(inner)) continue;
    const found = Object.keys(value).find(isOdd);
    if (found !== undefined) return found;
  }
  return undefined;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
