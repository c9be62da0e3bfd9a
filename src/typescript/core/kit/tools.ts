/** Tools, their schemas and their results. */
export {
  /** Ranks texts by their match with a query. */
  rank,
} from "../tools/deferred/rank.js";
export {
  /** The function that runs a tool's calls. */
  handlerOf,
  /** A tool of an agent, checked. */
  type KnownTool,
  /** Marks a tool whose name a page has chosen. */
  markAsNamedByPage,
  /** The names that such a tool may have, as a pattern and in words. */
  PAGE_NAMES,
} from "../tools/tool.js";
export {
  /** Whether a value is a content block. */
  isContentBlock,
  /** The result of a tool as blocks; undefined for an ordinary value. */
  richResult,
} from "../tools/tool-content.js";
export {
  /** Bytes as base64. */
  base64Of,
} from "../tools/tool-json.js";
export {
  /** The JSON Schema of a tool's input. */
  inputJsonSchema,
  /** Whether a value is a Standard Schema, such as zod's. */
  isStandardSchema,
} from "../tools/tool-schema.js";
