/** The options about steers and follow-ups: checked, and in the form that the engine takes. */
import type { SteerOptions } from "../api/index.js";
import { checkWord } from "./check.js";

/** @throws LoopletError `config_invalid_value` */
export function steerConfig({ steeringMode, followUpMode }: SteerOptions): object {
  checkWord(steeringMode, "steeringMode", ["all", "one"]);
  checkWord(followUpMode, "followUpMode", ["all", "one"]);
  return {
    ...(steeringMode === "one" ? { steerOne: true } : {}),
    ...(followUpMode === "all" ? { followUpAll: true } : {}),
  };
}
