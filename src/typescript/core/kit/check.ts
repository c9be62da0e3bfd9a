/** What checks and describes the values that a developer passes. */
export { matcherOf } from "../hooks/matcher.js";
export type { OptionTable } from "../option-table.js";
export {
  checkOptions,
  checkValue,
  describe,
  describeReturned,
  describeWord,
  fieldOf,
  isObject,
  isRecord,
  joined,
  jsonOf,
  nearestName,
  placed,
} from "../options/check.js";
export { messagesOf } from "../options/messages.js";
export { noAgentMethods, NoChatMethods } from "../options/peer-methods.js";
export { checkMode, isRule } from "../options/permissions.js";
export { soundsSecret } from "../options/secret-name.js";
export { isErrorObject, message } from "../options/thrown.js";
export type { NotOfModel } from "../peer-names.js";
