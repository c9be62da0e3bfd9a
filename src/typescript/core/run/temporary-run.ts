/** Runs that are opened only to read or write a journal. They call none of your functions. */
import type { AgentParts } from "./agent-parts.js";
import { LoopletError } from "../api/errors.js";
import type { JournalEntry } from "../api/index.js";
import type { JournalTail } from "../generated/model.js";
import type { HostCallbacks, RunSource } from "../host/driver.js";
import { journalOf } from "../host/entries.js";
import { message } from "../options/thrown.js";
import type { Driver, LoadEngine, OpenRun } from "../host/engine.js";

/**
 * The engine, for a method that needs it before a run begins.
 *
 * @throws LoopletError `config_wasm`
 */
export async function loaded(load: LoadEngine): Promise<OpenRun> {
  try {
    return await load();
  } catch (error) {
    const words = `The WebAssembly could not be loaded: ${message(error)}`;
    throw new LoopletError("config_wasm", "", words, error);
  }
}

/**
 * Opens a run, lets `act` read it, and frees it. `save` gets the entries that it writes.
 *
 * @throws the engine's error about a journal that cannot be read, or that these options do not fit
 */
export function withTemporaryRun<T>(
  { config, random, clock, now }: AgentParts,
  open: OpenRun,
  source: RunSource,
  act: (driver: Driver) => T,
  save: HostCallbacks["save"] = nothing,
): T {
  const { setTimer, clearTimer } = clock;
  const driver = open(config(), source, { ...NO_CALLBACKS, random, now, setTimer, clearTimer, save });
  try {
    return act(driver);
  } finally {
    driver.free();
  }
}

/** The end of this journal; undefined for one that cannot be read with these options. */
export function tailOf(
  parts: AgentParts,
  open: OpenRun,
  entries: readonly JournalEntry[],
): JournalTail | undefined {
  try {
    return withTemporaryRun(parts, open, journalOf(entries), (driver) => driver.tail());
  } catch {
    return undefined;
  }
}

function nothing(): void {}

const NO_CALLBACKS = {
  fetch: () => Promise.reject(new Error("a journal is read")),
  authorize: () => [],
  perform: nothing,
  onDelta: nothing,
  onEvent: nothing,
  onHostError: nothing,
  done: nothing,
};
