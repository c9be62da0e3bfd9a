/** The options about steers and follow-ups, in the form that the engine takes. */
import type { SteerOptions } from "../api/index.js";

export function steerConfig({ steeringMode, followUpMode }: SteerOptions): object {
  return {
    ...(steeringMode === "one" ? { steerOne: true } : {}),
    ...(followUpMode === "all" ? { followUpAll: true } : {}),
  };
}
