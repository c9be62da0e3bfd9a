// What a platform gives and a program has forgotten to configure: the types cannot see that it is missing.
import { describe, expect, test } from "vitest";
import { createAgent, custom, LoopletError, ToolError } from "../../../src/typescript/core/index.js";
import {
  d1Store,
  denoKvStore,
  durableObjectStore,
  kvStore,
  memoryStore,
  sqliteStore,
  sqlStore,
  supervise,
} from "../../../src/typescript/extras/stores/index.js";
import { sqlTraceStore } from "../../../src/typescript/extras/trace/index.js";
import { kvVfs, r2Vfs } from "../../../src/typescript/extras/vfs/index.js";
import { workersAi } from "../../../src/typescript/extras/models/index.js";

const agent = createAgent({ model: custom(() => Promise.resolve("Hello.")), store: memoryStore() });
const missing = undefined as never;

describe("a missing binding is named at once", () => {
  const made: { readonly [field: string]: readonly [make: (value: never) => unknown, needs: RegExp] } = {
    d1Store: [(value) => d1Store(value), /^database: needs a D1 database; .* Wrangler .*, got nothing/],
    sqliteStore: [(value) => sqliteStore(value), /^database: needs a database with prepare\(\)/],
    sqlStore: [(value) => sqlStore(value), /^database: needs an object with run\(\) and all\(\)/],
    durableObjectStore: [(value) => durableObjectStore(value), /^storage: needs .*ctx\.storage/],
    kvStore: [(value) => kvStore(value), /^namespace: needs a KV namespace/],
    denoKvStore: [(value) => denoKvStore(value), /^kv: needs .*Deno\.openKv/],
    r2Vfs: [(value) => r2Vfs(value), /^bucket: needs an R2 bucket/],
    kvVfs: [(value) => kvVfs(value), /^namespace: needs a KV namespace/],
    sqlTraceStore: [(value) => sqlTraceStore(value), /^database: needs an object with run\(\) and all\(\)/],
    workersAi: [(value) => workersAi(value, "@cf/m"), /needs the binding env\.AI/],
    "supervise, store": [(value) => supervise(value, agent), /^store: needs the store of the agent/],
    "supervise, agent": [(value) => supervise(memoryStore(), value), /^agent: needs an agent, got/],
  };
  for (const [name, [make, needs]] of Object.entries(made))
    test.each([
      ["nothing", undefined],
      ["null", null],
      ["an object of another kind", {}],
      ["a text", "DB"],
    ])(`${name}: %s`, (_, value) => {
      const error = thrownBy(() => make(value as never));
      expect(error).toBeInstanceOf(LoopletError);
      if (value === undefined) expect((error as Error).message).toMatch(needs);
    });

  test("and a database that is there is taken", () => {
    expect(() => sqlStore({ run: () => Promise.resolve(0), all: () => Promise.resolve([]) })).not.toThrow();
    expect(() => supervise(memoryStore(), agent, { everyMs: null })).not.toThrow();
    expect(() => supervise(missing, agent)).toThrow(LoopletError);
  });
});

test("a ToolError takes a text as its message", () => {
  const error = new ToolError("The key has expired.");
  expect([error.message, error.code, error.recoverable]).toEqual([
    "The key has expired.",
    "tool_failed",
    true,
  ]);
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
