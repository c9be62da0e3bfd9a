/** The parts of the engine that are loaded when a run needs them: what needs which, and how they come into an instance. */
import { LoopletError } from "./api/errors.js";
import type { ModelConfig } from "./models/models.js";

/** The part that a model's requests and answers take: its wire protocol. */
export function partOf({ vendor, protocol = vendor }: ModelConfig): string {
  return protocol === "custom" ? "ndjson" : protocol;
}

/** The part with questions to the host, structured output and rules of permission. */
export const QUESTIONS = "questions";

// What is not listed, as what comes with a feature of tomorrow, may ask.
const ASKS_NOTHING = words(
  "model system instructions tools limits timeouts retry fallbackModels stopWhen repeat toolExecution " +
    "maxToolConcurrency onMaxTokens strictStopReason steerOne followUpAll maxToolResultChars eagerTools estimateUsage joinDeltas trace",
);
const TOOL_ASKS_NOTHING = words(
  "name description inputSchema validate readOnly strict maxResultChars maxCalls replayOnce timeoutMs",
);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}

/** Whether runs of this configuration of the engine may ask the host, or need what is in that part besides. */
export function asks(config: { readonly [option: string]: unknown }): boolean {
  const isSet = (table: ReadonlySet<string>, given: object): boolean =>
    Object.entries(given).some(([name, value]) => value !== undefined && value !== false && !table.has(name));
  return (
    isSet(ASKS_NOTHING, config) ||
    (config["tools"] as object[]).some((tool) => isSet(TOOL_ASKS_NOTHING, tool))
  );
}

/** What a mode needs that a run is switched to: this one looks at what calls are about, as rules do. */
export function partsOfMode(mode: string): readonly string[] {
  return mode === "acceptEdits" ? [QUESTIONS] : [];
}

/** The part with the keywords of JSON Schema that plain schemas do not have. */
export const KEYWORDS = "keywords";

// As `SELDOM` in `src/engine/schema/compile.rs`. A property of such a name only loads what is not needed.
const SELDOM =
  /"(const|((exclusiveM|m)(in|ax)imum)|multipleOf|(min|max)(Length|Items|Properties|Contains)|uniqueItems|propertyNames|depend(entRequired|entSchemas|encies)|prefixItems|contains|(all|any|one)Of|not|if|\$ref|\$defs|definitions)":|"items":\[/;

/** Whether a schema in this JSON, which has no spaces between its tokens, has one of them. */
export function hasSeldomKeyword(json: string): boolean {
  return SELDOM.test(json);
}

/** Where the parts are: `scripts/build.mjs` writes it. A part that is not listed is in the engine already. */
export interface PartFiles {
  readonly files: { readonly [part: string]: () => Promise<{ readonly part: string }> };
  /** Where in the table the functions stand that parts import. */
  readonly lentAt: number;
  /** The WebAssembly of a part. */
  unpack(part: string): Promise<BufferSource>;
}

/** The parts of one engine. */
export class Parts {
  readonly #from: PartFiles;
  readonly #loading = new Map<string, Promise<void>>();
  /** Those that are there, in the order in which they came. */
  readonly #modules: { readonly part: string; readonly module: WebAssembly.Module }[] = [];
  /** Those that the instance has too. */
  readonly #filled = new Set<string>();
  /** A run has missed one: the next have all. */
  #isMissed = false;

  constructor(from: PartFiles) {
    this.#from = from;
  }

  /** Whether one of them is not in the instance: what was loaded comes into it with {@link Parts.fill}. */
  lacks(parts: Iterable<string>): boolean {
    return [...parts].some((part) => part in this.#from.files && !this.#filled.has(part));
  }

  /** Has the files fetched, so that a run need not wait for them; a failure is for the run to tell. */
  fetch(parts: Iterable<string>): void {
    for (const part of parts) this.#from.files[part]?.().catch(() => {});
  }

  /**
   * Loads what is not there yet. A failure is not kept: the next call tries again.
   *
   * @throws LoopletError `config_wasm`
   */
  async load(parts: Iterable<string>): Promise<void> {
    const all = this.#isMissed ? Object.keys(this.#from.files) : [...parts];
    await Promise.all(all.map((part) => this.#load(part)));
  }

  /**
   * What ended an instance, in words where it may have been a call of a part that is not there: a defect of looplet
   * that only one run is to meet.
   */
  explain(error: unknown): unknown {
    const said = String(error);
    if (
      !(error instanceof WebAssembly.RuntimeError && /null/.test(said)) ||
      !this.lacks(Object.keys(this.#from.files))
    )
      return error;
    this.#isMissed = true;
    return new Error(
      `a part of the engine was not loaded that this run needs; the next have all of it (${said})`,
    );
  }

  /** Puts into an instance those that came after the first `count`, and returns how many there are. */
  fill(exports: WebAssembly.Exports, count: number): number {
    const table = exports["T0"] as WebAssembly.Table;
    const { lentAt } = this.#from;
    for (const { part, module } of this.#modules.slice(count)) {
      const lent: WebAssembly.ModuleImports = {};
      for (const { name, kind } of WebAssembly.Module.imports(module))
        lent[name] =
          kind === "function"
            ? table.get(lentAt + parseInt(name, 36))
            : (exports[name] as WebAssembly.ImportValue);
      new WebAssembly.Instance(module, { "": lent });
      this.#filled.add(part);
    }
    return this.#modules.length;
  }

  #load(part: string): Promise<void> {
    let loading = this.#loading.get(part);
    if (loading === undefined) {
      loading = this.#compile(part).catch((error: unknown) => {
        this.#loading.delete(part);
        throw error;
      });
      this.#loading.set(part, loading);
    }
    return loading;
  }

  async #compile(part: string): Promise<void> {
    const file = this.#from.files[part];
    if (file === undefined) return;
    try {
      const packed = (await file()).part;
      this.#modules.push({ part, module: await WebAssembly.compile(await this.#from.unpack(packed)) });
    } catch (error) {
      throw new LoopletError(
        "config_wasm",
        "",
        `the engine's part "${part}" cannot be loaded: ${error instanceof Error ? error.message : String(error)}. ` +
          "Serve every file of the build; a page that is older than the last deployment has to be loaded again",
        error,
      );
    }
  }
}
