// Finds, compiles and starts the engine: once, at the first run, never while a module is imported (Workers forbid work
// there). Each host entry says where the `.wasm` is; `init` lets the host say so itself.
import start, {
  RunHandle,
  headersOf,
  inletCapacity,
  inletFor,
  instanceExports,
  linearMemory,
  lostFlag,
  outletAt,
} from "../../../target/glue/looplet.js";
import { describe } from "../options/check.js";
import { LoopletError } from "../api/errors.js";
import type { HostResponse, HostUrl, HostWasmModule } from "../api/platform.js";
import type { Parts } from "../parts.js";

/** Where the engine's WebAssembly comes from: a compiled module, its bytes, a response that carries it, or its URL. */
export type WasmSource = HostWasmModule | ArrayBuffer | ArrayBufferView | HostResponse | HostUrl | string;

// Not the whole module: a bundler could then leave nothing of it out.
const glue = {
  RunHandle,
  headersOf,
  inletCapacity,
  inletFor,
  instanceExports,
  linearMemory,
  lostFlag,
  outletAt,
};

/** What `RunHandle.tell` can be told: the numbers in `src/shell/handle.rs`. @internal */
export const enum Tell {
  Start,
  Steer,
  FollowUp,
  Withdraw,
  Abort,
  Hold,
  Resume,
  Head,
  End,
  NotSent,
  NetworkFailed,
  ToolFinished,
  ToolProgress,
  Answer,
  Due,
  Want,
  Outcome,
  Result,
  Text,
  SetMode,
  SetModel,
  Agent,
  Compact,
  AddBudget,
  LetGo,
}

/** The started engine. @internal */
export interface LoadedWasm {
  /** The exports of the shell. */
  readonly glue: typeof glue;
  /** The linear memory of the instance. Its `buffer` is replaced whenever it grows. */
  readonly memory: WebAssembly.Memory;
  /** Where this engine is not whole. */
  readonly parts?: Parts | undefined;
}

let findSource: (() => WasmSource | Promise<WasmSource>) | undefined;
let ownParts: Parts | undefined;
let loading: Promise<LoadedWasm> | undefined;
/** Of the engine that is loading or loaded. */
let parts: Parts | undefined;

/**
 * Says how this host finds the engine, and the parts that it then lacks. Called by the entry of the host; `find` runs
 * at the first `loadWasm`. @internal
 */
export function setWasmSource(find: () => WasmSource | Promise<WasmSource>, lacking?: Parts): void {
  findSource = find;
  ownParts = lacking;
}

/**
 * Starts the engine from a source of your own, for self-hosted or precompiled WebAssembly. Optional: without it the
 * first run finds the engine by itself, except with `looplet/slim`. Once the engine has started, it changes nothing.
 *
 * Rejects with a `LoopletError` of code `config_wasm` when the source cannot be fetched or compiled; the next call tries
 * again.
 */
export async function init(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  await (source === undefined ? loadWasm() : load(() => source));
}

/**
 * The started engine with the parts that are needed; all callers share one. A failure is not kept: the next call tries
 * again. @internal
 */
export async function loadWasm(needed: Iterable<string> = []): Promise<LoadedWasm> {
  const engine = load(findSource);
  const [wasm] = await Promise.all([engine, parts?.load(needed)]);
  return wasm;
}

/** Whether parts are still to be loaded for a run that has started. @internal */
export function lacksParts(needed: Iterable<string>): boolean {
  return parts?.lacks(needed) ?? false;
}

/** Has parts fetched that a run will need. @internal */
export function fetchParts(needed: Iterable<string>): void {
  (loading === undefined ? ownParts : parts)?.fetch(needed);
}

function load(find: typeof findSource): Promise<LoadedWasm> {
  if (loading === undefined) {
    parts = find === findSource ? ownParts : undefined;
    loading = begin(find, parts).catch((error: unknown) => {
      loading = undefined;
      throw explain(error);
    });
  }
  return loading;
}

async function begin(find: typeof findSource, lacking: Parts | undefined): Promise<LoadedWasm> {
  if (!find)
    throw new Error("looplet/slim carries no WebAssembly: call `await init(source)` before the first run.");
  const source = await find();
  if (typeof source !== "string" && (typeof source !== "object" || source === null))
    throw new Error(
      `init() needs a WebAssembly.Module, bytes, a Response or a URL, got ${describe(source)}.`,
    );
  const exports = await start({ module_or_path: source });
  return { glue, memory: exports.memory, parts: lacking };
}

// Chromium, Firefox and WebKit word the refusal differently and give it different classes.
function explain(error: unknown): LoopletError {
  const text = error instanceof Error ? error.message : String(error);
  return new LoopletError("config_wasm", "", adviceFor(text) ?? text, error);
}

function adviceFor(text: string): string | undefined {
  if (/content security policy|\bcsp\b|unsafe-eval/i.test(text))
    return "The page's Content-Security-Policy forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src directive.";
  if (/code generation disallowed/i.test(text))
    return (
      "This runtime compiles no WebAssembly from bytes: bundle looplet with the export condition `workerd` or `edge-light`, " +
      'or pass a module: `import wasm from "looplet/looplet.wasm"; await init(wasm);`'
    );
  return undefined;
}
