/** The tables of options, and names that the engine fixes. */
export { PERMISSION_MODES, VERSION } from "../generated/tables.js";
export {
  CUSTOM_TABLE,
  EVENTS,
  HTTP_MODEL_TABLE,
  PENDING_TABLE,
  RESUME_TABLE,
  RUN_TABLE,
} from "../options/options.js";
