// Finds, compiles and starts the engine. It does so once, at the first run, and never while a module is imported,
// because Workers forbid work there. Each entry says where the `.wasm` is; `init` lets you say so yourself.
import start, {
  AgentHandle,
  headersOf,
  __wbg_reset_state as resetState,
  inletCapacity,
  inletFor,
  linearMemory,
  outletAt,
} from "../../../../target/glue/looplet.js";
import { describe } from "../options/check.js";
import { LoopletError } from "../api/errors.js";
import type { HostResponse, HostUrl, HostWasmModule } from "../api/platform.js";

/** A source of the engine's WebAssembly: a compiled module, its bytes, a response that carries it, or its URL. */
export type WasmSource = HostWasmModule | ArrayBuffer | ArrayBufferView | HostResponse | HostUrl | string;

// The object names the exports that are used; with the whole module a bundler could leave none of them out.
const glue = {
  AgentHandle,
  headersOf,
  inletCapacity,
  inletFor,
  linearMemory,
  outletAt,
  resetState,
};

/** The started engine. @internal */
export interface LoadedWasm {
  /** The exports of the shell. */
  readonly glue: typeof glue;
}

let findSource: (() => WasmSource | Promise<WasmSource>) | undefined;
let loading: Promise<LoadedWasm> | undefined;

/** Sets how this platform's entry finds the engine; `find` runs at the first `loadWasm`. @internal */
export function setWasmSource(find: () => WasmSource | Promise<WasmSource>): void {
  findSource = find;
}

/**
 * Starts the engine from a source of your own, for self-hosted or precompiled WebAssembly. Only `looplet/external`
 * needs it; other entries find the engine at the first run. Once the engine has started, a further call changes
 * nothing.
 *
 * Rejects with a `LoopletError` of code `config_wasm` if the source cannot be fetched or compiled; the next call
 * tries again.
 *
 * @example
 * ```ts
 * import { init } from "looplet/external";
 *
 * declare const wasm: WebAssembly.Module; // for example from `import wasm from "looplet/looplet.wasm"` in a Worker
 * await init(wasm);
 * ```
 */
export async function init(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  await (source === undefined ? loadWasm() : load(() => source));
}

/** The started engine; all callers share one. A failure is not kept: the next call tries again. @internal */
export function loadWasm(): Promise<LoadedWasm> {
  return load(findSource);
}

function load(find: typeof findSource): Promise<LoadedWasm> {
  loading ??= begin(find).catch((error: unknown) => {
    loading = undefined;
    throw explain(error);
  });
  return loading;
}

async function begin(find: typeof findSource): Promise<LoadedWasm> {
  if (!find)
    throw new Error(
      "looplet/external does not include the WebAssembly: call `await init(source)` before the first run, or import looplet. " +
        'looplet/receipts, looplet/replay and looplet/testing carry none either: add `import "looplet"`.',
    );
  const source = await find();
  if (typeof source !== "string" && (typeof source !== "object" || source === null))
    throw new Error(
      `init() needs a WebAssembly.Module, bytes, a Response or a URL, got ${describe(source)}.`,
    );
  const module = await compiled(source);
  // The glue keeps the first module that it starts, so a wrong one must not reach it.
  const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
  if (!exported.includes("runhandle_chunk"))
    throw new Error("init() got WebAssembly that is not looplet's: it needs looplet.wasm of this version.");
  await start({ module_or_path: module });
  return { glue };
}

async function compiled(source: WasmSource): Promise<WebAssembly.Module> {
  // A test runner may have made the source in another realm, so `instanceof` says too little.
  const kind = Object.prototype.toString.call(source).slice(8, -1);
  if (kind === "WebAssembly.Module") return source as WebAssembly.Module;
  if (kind === "ArrayBuffer" || kind === "SharedArrayBuffer" || ArrayBuffer.isView(source))
    return WebAssembly.compile(source as BufferSource);
  const response = kind === "Response" ? (source as Response) : await fetch(source as string | URL);
  if (!response.ok) throw new Error(`${response.url} answers with status ${response.status}`);
  // Another type costs the compilation while the file loads, and nothing else.
  const isStreamable = response.headers.get("content-type")?.toLowerCase() === "application/wasm";
  if (isStreamable && typeof WebAssembly.compileStreaming === "function")
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

// Recognises a refusal by CSP, which Chromium, Firefox and WebKit word differently and give different classes.
function explain(error: unknown): LoopletError {
  const text = error instanceof Error ? error.message : String(error);
  return new LoopletError("config_wasm", "", adviceFor(text) ?? text, error);
}

function adviceFor(text: string): string | undefined {
  if (/content security policy|\bcsp\b|unsafe-eval/i.test(text))
    return "The page's Content-Security-Policy forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src directive.";
  if (/\bimport\b.*service ?worker/i.test(text))
    return "A service worker loads no module later: bundle it into one file, or import looplet/inline in place of looplet.";
  if (/code generation disallowed/i.test(text))
    return (
      "This runtime compiles no WebAssembly from bytes: bundle looplet with the export condition `workerd` or `edge-light`, " +
      'or pass a module: `import wasm from "looplet/looplet.wasm"; await init(wasm);`'
    );
  return undefined;
}
