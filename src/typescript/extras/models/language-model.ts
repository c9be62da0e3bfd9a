/**
 * The part of the browser's Prompt API that looplet uses, as the draft describes it:
 * <https://webmachinelearning.github.io/prompt-api/>,
 * <https://developer.mozilla.org/en-US/docs/Web/API/LanguageModel> (2026-11-22).
 */

/** `globalThis.LanguageModel`, or a polyfill of it. */
export interface LanguageModelStatic {
  availability(options?: LanguageModelCoreOptions): Promise<LanguageModelAvailability>;
  create(options?: LanguageModelCreateOptions): Promise<LanguageModelSession>;
}

export type LanguageModelAvailability = "unavailable" | "downloadable" | "downloading" | "available";

/** A kind of input or output that a session expects. */
export interface LanguageModelExpected {
  type: "text" | "image" | "audio";
  /** BCP 47 tags, for example `en`. */
  languages?: string[];
}

export interface LanguageModelCoreOptions {
  expectedInputs?: LanguageModelExpected[];
  expectedOutputs?: LanguageModelExpected[];
  samplingMode?: string;
  /** Works in extensions only; browsers ignore a page's value. */
  temperature?: number;
  /** Works in extensions only; browsers ignore a page's value. */
  topK?: number;
}

export interface LanguageModelCreateOptions extends LanguageModelCoreOptions {
  initialPrompts?: LanguageModelMessage[];
  monitor?: (monitor: LanguageModelMonitor) => void;
  signal?: unknown;
}

export interface LanguageModelMonitor {
  addEventListener(type: "downloadprogress", listener: (event: { loaded: number }) => void): void;
}

export interface LanguageModelMessage {
  role: "system" | "user" | "assistant";
  content: string | { type: "text" | "image" | "audio"; value: unknown }[];
}

export interface LanguageModelSession {
  promptStreaming(input: LanguageModelMessage[], options?: LanguageModelPromptOptions): LanguageModelStream;
  measureContextUsage?(input: LanguageModelMessage[], options?: LanguageModelPromptOptions): Promise<number>;
  /** Tokens in the session's context. */
  readonly contextUsage?: number;
  /** The older name of `measureContextUsage`. */
  measureInputUsage?(input: LanguageModelMessage[], options?: LanguageModelPromptOptions): Promise<number>;
  /** The older name of `contextUsage`. */
  readonly inputUsage?: number;
  destroy(): void;
}

/** A `ReadableStream` of texts. */
export interface LanguageModelStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: string | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

export interface LanguageModelPromptOptions {
  /** A JSON Schema that the answer must match. */
  responseConstraint?: object;
  signal?: unknown;
}
