/** Name patterns of tools and effects: `*` matches any text. */
import { LoopletError } from "../../core/api/errors.js";

/**
 * Whether a name matches the pattern. `field` names the option in the error.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function namePattern(pattern: unknown, field: string): (name: string) => boolean {
  if (typeof pattern !== "string" || pattern === "")
    throw new LoopletError("config_invalid_value", field, 'needs a name, such as "charge" or "delete_*"');
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const fits = new RegExp(`^${parts.join(".*")}$`, "s");
  return (name) => fits.test(name);
}
