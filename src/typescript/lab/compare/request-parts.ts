/** Which parts of a request differ, in readable form: the system prompt, a tool, a message, an option. */
import { isObject } from "../../core/kit/check.js";

/** A part that differs, before and after. An absent part is an empty text. */
export interface RequestPart {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The maximum number of parts in a report. */
const MAX_PARTS = 20;

/** Fields that protocols have for the system prompt. */
const SYSTEM = /^(?:system|instructions|system_?instruction)$/i;
/** The role of a message that is a system prompt. */
const SYSTEM_ROLE = /^(?:system|developer)$/;
/** Lists of messages. */
const MESSAGES = /^(?:messages|contents|input)$/;
/** Fields that hold tools, or the object that holds them. */
const TOOLS = /^(?:tools|toolConfig)$/;
/** Marks of prompt caches wander with the last message. They cause nothing themselves. */
const CACHE_MARKS = /^(?:cache_control|cachePoint|prompt_cache_key)$/;
const SCHEMA = /^(?:input_?schema|parameters(?:JsonSchema)?)$/i;
/** The fields in which a result names its call. */
const CALL_IDS = ["tool_use_id", "tool_call_id", "call_id", "toolUseId"];
/** The fields in which a call has its id. */
const OWN_IDS = ["id", "call_id", "toolUseId"];

/** Differing parts of two bodies, in the order in which they are sent. Marks of prompt caches come last. */
export function requestParts(before: string, after: string): RequestPart[] {
  let [one, other]: unknown[] = [];
  try {
    [one, other] = [JSON.parse(before), JSON.parse(after)];
  } catch {
    return [{ name: "the body", before, after }];
  }
  const leaves = [...leavesOf(one, other, [])];
  const isMark = ({ path }: Leaf): boolean => path.some((key) => CACHE_MARKS.test(String(key)));
  const ordered = [...leaves.filter((leaf) => !isMark(leaf)), ...leaves.filter(isMark)];
  const parts = new Map<string, RequestPart>();
  for (const leaf of ordered) {
    const name = nameOf(leaf, one, other);
    if (!parts.has(name)) parts.set(name, { name, before: shown(leaf.before), after: shown(leaf.after) });
    if (parts.size >= MAX_PARTS) break;
  }
  return [...parts.values()];
}

/** A place where two values differ. An object or a list that only one side has is one place. */
interface Leaf {
  readonly path: readonly (string | number)[];
  readonly before: unknown;
  readonly after: unknown;
}

function* leavesOf(before: unknown, after: unknown, path: Leaf["path"]): Generator<Leaf> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [key, one, other] of pairsOf(before, after)) yield* leavesOf(one, other, [...path, key]);
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* leavesOf(own(before, key), own(after, key), [...path, key]);
  } else yield { path, before, after };
}

/** Pairs of items of two lists: tools by name, all others by position. */
function* pairsOf(
  before: readonly unknown[],
  after: readonly unknown[],
): Generator<[number, unknown, unknown]> {
  const names = [before, after].map((list) => list.map(toolNameOf));
  if (names.every((list) => list.every((name) => name !== undefined))) {
    const [ours, theirs] = names as [string[], string[]];
    for (const [index, name] of ours.entries()) yield [index, before[index], after[theirs.indexOf(name)]];
    for (const [index, name] of theirs.entries())
      if (!ours.includes(name)) yield [before.length + index, undefined, after[index]];
    return;
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++)
    yield [index, before[index], after[index]];
}

function nameOf(leaf: Leaf, before: unknown, after: unknown): string {
  const [top, ...rest] = leaf.path;
  const name = String(top);
  if (SYSTEM.test(name)) return "system prompt";
  if (TOOLS.test(name)) return toolPart(leaf, before, after);
  if (MESSAGES.test(name)) return messagePart(leaf, before, after);
  return `option \`${[name, ...rest].join(".")}\``;
}

function toolPart({ path, before, after }: Leaf, one: unknown, other: unknown): string {
  const alone = toolNameOf(before ?? after);
  if (alone !== undefined) return `tool \`${alone}\` ${before === undefined ? "is new" : "is missing"}`;
  for (let length = path.length; length > 0; length--) {
    const place = path.slice(0, length);
    const name = toolNameOf(valueAt(one, place) ?? valueAt(other, place));
    if (name === undefined) continue;
    const inside = path.slice(length).map(String);
    const schema = inside.findIndex((key) => SCHEMA.test(key));
    const field = schema >= 0 ? "input schema" : (inside.at(-1) ?? "order");
    return `tool \`${name}\`: ${field}`;
  }
  return before === undefined ? "tools are new" : after === undefined ? "tools are missing" : "the tools";
}

function messagePart({ path, before, after }: Leaf, one: unknown, other: unknown): string {
  const index = path[1];
  if (index === undefined) return "the messages";
  const place = path.slice(0, 2);
  const message = valueAt(other, place) ?? valueAt(one, place);
  const role = own(message, "role") ?? own(message, "type");
  if (SYSTEM_ROLE.test(String(role))) return "system prompt";
  const name = `message ${Number(index) + 1}${typeof role === "string" ? ` (${role})` : ""}`;
  if (path.length === 2)
    return before === undefined ? `${name} is new` : after === undefined ? `${name} is missing` : name;
  for (let length = path.length; length > 1; length--) {
    const block = valueAt(other, path.slice(0, length)) ?? valueAt(one, path.slice(0, length));
    const id = CALL_IDS.map((field) => own(block, field)).find((field) => typeof field === "string");
    if (id === undefined) continue;
    const called = callNamed(other, id as string) ?? callNamed(one, id as string);
    return `${name}: result of ${called === undefined ? "a tool" : `\`${called}\``}`;
  }
  return name;
}

/** The name of the tool of the call with this id. */
function callNamed(body: unknown, id: string): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  if (OWN_IDS.some((field) => own(body, field) === id)) {
    const name = own(body, "name") ?? own(own(body, "function"), "name");
    if (typeof name === "string") return name;
  }
  for (const value of Object.values(body)) {
    const found = callNamed(value, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name of a tool's definition, as each protocol wraps it. */
function toolNameOf(value: unknown): string | undefined {
  const name = own(value, "name") ?? own(own(value, "function") ?? own(value, "toolSpec"), "name");
  return typeof name === "string" && own(value, "role") === undefined ? name : undefined;
}

function valueAt(value: unknown, path: Leaf["path"]): unknown {
  return path.reduce<unknown>((inner, key) => own(inner, key), value);
}

function own(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { [key: string | number]: unknown })[key];
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
