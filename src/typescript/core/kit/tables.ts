/** Names and option tables that are fixed. */
export {
  /** The permission modes. */
  PERMISSION_MODES,
  /** The version of the package. */
  VERSION,
} from "../generated/tables.js";
export {
  /** The options of `custom`. */
  CUSTOM_TABLE,
  /** The events of hooks. */
  EVENTS,
  /** The options of a model that is reached by HTTP. */
  HTTP_MODEL_TABLE,
  /** The options of `agent.pending`. */
  PENDING_TABLE,
  /** The options of `agent.resume`. */
  RESUME_TABLE,
  /** The options of `agent.run`. */
  RUN_TABLE,
} from "../options/options.js";
