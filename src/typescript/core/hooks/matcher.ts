/** The matchers of hooks. */
import { LoopletError } from "../api/errors.js";
import { describeWord } from "../options/check.js";

/** A test whether a matcher matches a name; undefined if it matches all of them. */
export function matcherOf(
  matcher: string | undefined,
  field: string,
): ((name: string) => boolean) | undefined {
  if (matcher === undefined || matcher === "" || matcher === "*") return undefined;
  if (/^[\w ,|]*$/.test(matcher)) {
    const names = matcher.split(/[,|]/).map((name) => name.trim());
    return (name) => names.includes(name);
  }
  try {
    const pattern = new RegExp(matcher);
    return (name) => pattern.test(name);
  } catch {
    throw new LoopletError(
      "config_invalid_value",
      field,
      `is no regular expression: ${describeWord(matcher)}`,
    );
  }
}
