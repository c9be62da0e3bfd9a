/** The form of the tables that options are checked against: those of `generated/` and those of `options/`. */

/** The shape that an option's value must have. */
export type OptionKind =
  /** A positive integer of 32 bits. */
  | "count"
  /** A positive integer. */
  | "count64"
  /** A non-negative integer of 32 bits. */
  | "whole"
  /** A non-negative integer. */
  | "whole64"
  | "boolean"
  | "number"
  | "string"
  | "text"
  | "id"
  | "texts"
  /** Non-negative integers. */
  | "wholes"
  | "function"
  | "object"
  | "any";

/** The words that an option may be, and the table of the object that it may be instead. */
export type Choices = readonly (string | OptionTable)[];

/**
 * The options of one object, by name: a kind, a list of choices or the table of an inner object. `!` marks a required
 * option, `?` one that may be null.
 */
export type OptionTable = {
  readonly [name: string]: OptionKind | `${OptionKind}${"!" | "?"}` | Choices | OptionTable;
};
