/** Checks and describes values that a developer passes. */
export {
  /** Makes the test for a hook's matcher; undefined for a matcher that matches every name. */
  matcherOf,
} from "../hooks/matcher.js";
export {
  /** The names, kinds and groups of options, for `checkOptions`. */
  type OptionTable,
} from "../option-table.js";
export {
  /** Checks the names and kinds of options, and returns a copy without a prototype. */
  checkOptions,
  /** Checks that a value is of a kind, such as `"count"` or `"function"`. */
  checkValue,
  /** Describes a value for an error message. It never shows the text of a string. */
  describe,
  /** As `describe`, for a value that a function returned: a promise gets a hint. */
  describeReturned,
  /** As `describe`, but shows a string: for a value that must be one of a few words. */
  describeWord,
  /** Reads a field of an object or its class, and ignores additions to `Object.prototype`. */
  fieldOf,
  /** Whether a value is an object and not an array. */
  isObject,
  /** Whether a value is a plain record, and not a `Map`, a promise or another class. */
  isRecord,
  /** Merges objects into one without a prototype. */
  joined,
  /** `JSON.stringify` with a `LoopletError` for a cycle or a bigint. */
  jsonOf,
  /** The candidate with the most similar spelling, for "did you mean". */
  nearestName,
  /** Runs a check, and adds a path in front of the field of its errors. */
  withFieldPrefix,
} from "../options/check.js";
export {
  /** Checks a list of messages, and turns each text into blocks. */
  messagesOf,
} from "../options/messages.js";
export {
  /** A prototype for agents, with methods of other libraries that say what to call instead. */
  noAgentMethods,
  /** The same for chats, as a base class. */
  NoChatMethods,
} from "../options/peer-methods.js";
export {
  /** Checks a permission mode, and that the options allow it. */
  checkMode,
  /** Whether a text has the form of a permission rule. */
  isRule,
} from "../options/permissions.js";
export {
  /** Whether a name, such as `api_key`, is one for a secret. */
  soundsSecret,
} from "../options/secret-name.js";
export {
  /** Whether a value is an error, of any realm. */
  isErrorObject,
  /** The message of a thrown value. Never throws. */
  message,
} from "../options/thrown.js";
export {
  /** Makes TypeScript reject a model's options under their names in other libraries, with a hint. */
  type NotOfModel,
} from "../peer-names.js";
