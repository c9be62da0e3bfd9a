import { LoopletError } from "../core/api/errors.js";
import { describe } from "../core/kit/check.js";

/**
 * Checks an object of the platform or of another package: `what` it is, by the methods that looplet calls. The types
 * cannot: a binding that the configuration of a Worker does not have is `undefined` there.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function checkMethods(value: unknown, field: string, what: string, methods: readonly string[]): void {
  const given = value as { readonly [name: string]: unknown } | null | undefined;
  if (methods.every((name) => typeof given?.[name] === "function")) return;
  throw new LoopletError("config_wrong_type", field, `needs ${what}, got ${describe(value)}`);
}
