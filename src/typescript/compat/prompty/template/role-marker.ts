/** The line that begins a message: `system:`, `user[name="Alice"]:`. */
const ROLES = ["system", "user", "assistant", "developer"] as const;

export interface RoleMarker {
  role: (typeof ROLES)[number];
  /** Its attributes. Numbers and booleans are values of their kind, unless they are quoted. */
  metadata: { [name: string]: unknown } | undefined;
}

export function isRoleMarker(line: string): boolean {
  return beginning(line)?.rest.trim() === "";
}

/** Whether a line looks like the start of a message to a model, also with text after the colon. */
export function looksLikeRole(line: string): boolean {
  return beginning(line) !== undefined;
}

export function readRoleMarker(line: string): RoleMarker | undefined {
  const found = beginning(line);
  if (found?.rest.trim() !== "") return undefined;
  return { role: found.role, metadata: attributesOf(found.attributes) };
}

/** A role with its attributes and a colon, and the text after them. */
function beginning(line: string): { role: RoleMarker["role"]; attributes: string; rest: string } | undefined {
  let text = line.trimStart();
  if (text.startsWith("#")) text = text.slice(1).trimStart();
  const role = ROLES.find((role) => text.slice(0, role.length).toLowerCase() === role);
  if (role === undefined) return undefined;
  text = text.slice(role.length);
  const end = text.startsWith("[") ? text.indexOf("]") : -1;
  const attributes = text.slice(1, Math.max(1, end));
  text = text.slice(end + 1).trimStart();
  return text.startsWith(":") ? { role, attributes, rest: text.slice(1) } : undefined;
}

/** The pairs `name=value` of a text, whatever separates them. */
function attributesOf(text: string): { [name: string]: unknown } | undefined {
  const pairs: [name: string, value: unknown][] = [];
  let at = 0;
  for (let sign = text.indexOf("="); sign >= 0; sign = text.indexOf("=", at)) {
    const nameEnd = text.slice(at, sign).trimEnd().length + at;
    let nameStart = nameEnd;
    while (nameStart > at && WORD.test(text[nameStart - 1]!)) nameStart--;
    let start = sign + 1;
    while (start < text.length && text[start]!.trim() === "") start++;
    const end = endOfValue(text, start);
    if (nameStart < nameEnd && start < end)
      pairs.push([text.slice(nameStart, nameEnd), valueOf(text.slice(start, end))]);
    at = Math.max(sign + 1, end);
  }
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

const WORD = /[\w-]/;

/** The end of a text in quotes, or of one without commas and blanks. */
function endOfValue(text: string, start: number): number {
  const quote = text[start];
  const close = quote === '"' || quote === "'" ? text.indexOf(quote, start + 1) : -1;
  if (close > 0) return close + 1;
  let end = start;
  while (end < text.length && text[end] !== "," && text[end]!.trim() !== "") end++;
  return end;
}

function valueOf(text: string): unknown {
  const quote = text[0];
  if (text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
