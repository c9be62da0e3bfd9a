/**
 * The manual: every option, callback, event and result of looplet, a file for each noun. It holds types and the three
 * classes of errors, never a decision. Users import it through `looplet`. The other rooms import it from here or from
 * the file of the noun; it imports no room but the generated types.
 */
export type * from "./agent.js";
export type * from "./run.js";
export type * from "./result.js";
export type * from "./event.js";
export type * from "./message.js";
export type * from "./model.js";
export type * from "./tool.js";
export type * from "./schema.js";
export type * from "./iteration.js";
export type * from "./hook.js";
export type * from "./permission.js";
export type * from "./trace.js";
export type { LoopletErrorCode, RunErrorCode, ToolErrorOptions } from "./errors.js";
