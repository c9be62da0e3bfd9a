/** Tools: their schemas, their results, the text of files. */
export { rank } from "../tools/deferred/rank.js";
export { handlerOf, type KnownTool, namedByPage, PAGE_NAMES } from "../tools/tool.js";
export { isContentBlock, richResult } from "../tools/tool-content.js";
export { base64Of } from "../tools/tool-json.js";
export { inputJsonSchema, isStandardSchema } from "../tools/tool-schema.js";
