/** The line that begins a message: `system:`, `user[name="Alice"]:`. */
const MARKER = /^\s*#?\s*(system|user|assistant|developer)(\[[^\]]*\])?\s*:\s*$/i;

export interface RoleMarker {
  role: "system" | "user" | "assistant" | "developer";
  /** Its attributes. Numbers and booleans are values of their kind, unless they are quoted. */
  metadata: { [name: string]: unknown } | undefined;
}

export function isRoleMarker(line: string): boolean {
  return MARKER.test(line);
}

/** Whether a line looks like the beginning of a message to a model, also with text behind the colon. */
export function looksLikeRole(line: string): boolean {
  return /^\s*#?\s*(system|user|assistant|developer)(\[[^\]]*\])?\s*:/i.test(line);
}

export function readRoleMarker(line: string): RoleMarker | undefined {
  const [, role, attributes] = MARKER.exec(line) ?? [];
  if (role === undefined) return undefined;
  return { role: role.toLowerCase() as RoleMarker["role"], metadata: attributesOf(attributes ?? "") };
}

function attributesOf(text: string): { [name: string]: unknown } | undefined {
  const pairs = [...text.matchAll(/([\w-]+)\s*=\s*("[^"]*"|'[^']*'|[^,\]\s]+)/g)];
  if (pairs.length === 0) return undefined;
  return Object.fromEntries(pairs.map(([, name, value]) => [name, valueOf(value!)]));
}

function valueOf(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
