/** The options in which an agent differs from the one that a run had. */
import { isObject } from "../../core/kit/check.js";
import type { LoopProcess } from "../replay/loop-file.js";

/** Parts of a configuration that do not belong to the agent, or that no file contains. */
const IGNORED = new Set(["journal", "trace", "headers", "slot"]);
/** The maximum number of names in a report. */
const MAX_NAMES = 50;

/** Their dotted names: `system`, `tools.weather.description`. */
export function changedOptions(before: LoopProcess["config"], after: LoopProcess["config"]): string[] {
  return [...differing(ofAgent(before), ofAgent(after), "")].slice(0, MAX_NAMES);
}

/** The configuration without `events.prefix`, which every recorded run has. */
function ofAgent({ events, ...rest }: LoopProcess["config"]): object {
  const { prefix: _, ...others } = Object(events) as { prefix?: unknown };
  return Object.keys(others).length === 0 ? rest : { ...rest, events: others };
}

function* differing(before: unknown, after: unknown, path: string): Generator<string> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const [one, other] = [byName(before), byName(after)];
  if (one === undefined || other === undefined) {
    yield path;
    return;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    if (!IGNORED.has(name)) yield* differing(one[name], other[name], path === "" ? name : `${path}.${name}`);
}

/** The fields of an object, or the items of a list by their names or places; undefined for any other value. */
function byName(value: unknown): { readonly [name: string]: unknown } | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined;
  return Object.fromEntries(
    value.map((item: unknown, at) => [
      isObject(item) && typeof item["name"] === "string" ? item["name"] : at,
      item,
    ]),
  );
}
