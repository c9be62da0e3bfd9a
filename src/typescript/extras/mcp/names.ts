/**
 * The names that models use for tools of servers: `mcp__<server>__<tool>`. The server ends at the first `__`, so a
 * name is unambiguous.
 */

/** The longest name of a tool that an agent takes, and the longest of a server, so that the server is never cut off. */
const MAX_NAME_CHARS = 128;
const MAX_SERVER_CHARS = 64;

/**
 * The name of a server inside the names of its tools. Characters that vendors refuse become `_`.
 *
 * @throws TypeError if tools of this server could pass for those of another
 */
export function serverPart(server: string, place: string): string {
  const part = plain(String(server));
  if (part.length > MAX_SERVER_CHARS)
    throw new TypeError(`${place}: a server needs a name of at most ${MAX_SERVER_CHARS} characters`);
  if (/^[^_](?:_?[^_])*$/.test(part)) return part;
  const problem =
    'needs a name without "__", and without "_" at its ends, because "__" ends it in mcp__server__tool';
  throw new TypeError(`${place}: the server "${server}" ${problem}`);
}

/**
 * The names of a server's tools, in order. If two names differ only in characters that vendors refuse, each changed
 * name gets a digest of the original as a suffix. A valid name is unchanged. Undefined for the second tool with the
 * same name.
 */
export function namesOf(server: string, tools: readonly string[]): (string | undefined)[] {
  const counts = new Map<string, number>();
  const given = new Set<string>();
  for (const name of new Set(tools)) counts.set(plain(name), (counts.get(plain(name)) ?? 0) + 1);
  return tools.map((name) => {
    const whole = `mcp__${server}__${plain(name)}`;
    const isShared = counts.get(plain(name))! > 1 && plain(name) !== name;
    const ending = `_${digest(name)}`;
    const isLong = whole.length > MAX_NAME_CHARS;
    const own = isShared || isLong ? whole.slice(0, MAX_NAME_CHARS - ending.length) + ending : whole;
    if (given.has(own)) return undefined;
    given.add(own);
    return own;
  });
}

function plain(name: string): string {
  return name.replace(/[^\w-]/g, "_");
}

/** Eight hexadecimal digits of a name: FNV-1a, which is enough to distinguish the names of one server. */
function digest(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
