/** Patterns of paths: `*` and `?` within a name, `**` across folders, `[a-z]` and `{a,b}`. */

const TOKEN = /\*\*\/|\*\*|\*|\?|\{|\}|,|\[!?[^\]]+\]|[\s\S]/g;

/** A regular expression for whole paths. */
export function globOf(pattern: string): RegExp {
  let depth = 0;
  const parts = (pattern.match(TOKEN) ?? []).map((token) => {
    switch (token) {
      case "**/":
        return "(?:[^/]+/)*";
      case "**":
        return ".*";
      case "*":
        return "[^/]*";
      case "?":
        return "[^/]";
      case "{":
        depth += 1;
        return "(?:";
      case "}":
        depth -= 1;
        return depth >= 0 ? ")" : "\\}";
      case ",":
        return depth > 0 ? "|" : ",";
      default:
        if (token.length > 1) return token.replace(/^\[!/, "[^").replace(/\\/g, "\\\\");
        return token.replace(/[\\^$.|+()[\]]/g, "\\$&");
    }
  });
  return new RegExp(`^${parts.join("")}${")".repeat(Math.max(depth, 0))}$`);
}
