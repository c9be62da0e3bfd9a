/** Patterns of paths: `*` and `?` within a name, `**` across folders, `[a-z]` and `{a,b}`. */
import { MOST_CHARS, Pattern } from "./pattern.js";

const TOKEN = /\*\*\/|\*\*|\*|\?|\{|\}|,|\[!?[^\]]+\]|[\s\S]/g;

/**
 * A pattern for whole paths.
 *
 * @throws SyntaxError for a pattern that is too long, or has a broken class of characters
 */
export function globOf(pattern: string): Pattern {
  if (pattern.length > MOST_CHARS)
    throw new SyntaxError(`The pattern has more than ${MOST_CHARS} characters.`);
  let depth = 0;
  const parts = (pattern.match(TOKEN) ?? []).map((token) => {
    switch (token) {
      case "**/":
        return "(?:[^/]+/)*";
      case "**":
        return "[^]*";
      case "*":
        return "[^/]*";
      case "?":
        return "[^/]";
      case "{":
        depth += 1;
        return "(?:";
      case "}":
        if (depth === 0) return "\\}";
        depth -= 1;
        return ")";
      case ",":
        return depth > 0 ? "|" : ",";
      default:
        if (token.length > 1) return token.replace(/^\[!/, "[^").replace(/\\/g, "\\\\");
        return token.replace(/[\\^$.|+()[\]]/g, "\\$&");
    }
  });
  // An expression is a few times as long as its glob.
  const options = { whole: true, mostChars: 10 * MOST_CHARS };
  return new Pattern(parts.join("") + ")".repeat(depth), options);
}
