/** The conformance vectors of Prompty, which are others' data and not in this repository. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const folder = join(
  process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared"),
  "prompty",
);
export const hasVectors = existsSync(join(folder, "vectors.json"));
if (!hasVectors) console.error(`SKIPPED: the vectors of Prompty are missing in ${folder}`);

export interface Vector {
  name: string;
  stage: string;
  input: any;
  expected: any;
  sequence?: any[];
}

const all: Vector[] = hasVectors
  ? JSON.parse(readFileSync(join(folder, "vectors.json"), "utf8")).vectors.map(({ vector }: any) => vector)
  : [];

/** The vectors of a stage, each with its name for a table of tests. */
export function stage(name: string): [string, Vector][] {
  const found = all.filter((vector) => vector.stage === name);
  return found.map((vector) => [vector.name, vector]);
}

export function fixture(name: string): string {
  return readFileSync(join(folder, "fixtures", name), "utf8");
}

/** Whether the keys of `expected` stand in `actual` with these values; lists are as long as expected. */
export function expectProjection(actual: unknown, expected: unknown): void {
  expect(projected(actual, expected)).toEqual(expected);
}

function projected(actual: any, expected: any): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, at) => projected(item, expected[at]));
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null)
    return actual;
  return Object.fromEntries(
    Object.keys(expected).map((key) => [key, projected(actual[key] ?? null, expected[key])]),
  );
}
