/**
 * Tools that Google defines, for `vendorTool`: <https://ai.google.dev/gemini-api/docs/tool-combination> (2026-11-28).
 */
import type { VendorToolOptions } from "../../core/api/index.js";

/**
 * Tools that Google defines, for Gemini. Each is an argument of `vendorTool`. Your own tools next to them need Gemini
 * 3.
 */
export const geminiTools = {
  /** Searches the web. The answer names its sources. */
  googleSearch: (options: object = {}): VendorToolOptions => entry({ googleSearch: options }),

  /** Reads pages whose URL is in the prompt. */
  urlContext: (): VendorToolOptions => entry({ urlContext: {} }),

  /** Runs Python on Google's servers. */
  codeExecution: (): VendorToolOptions => entry({ codeExecution: {} }),

  /** Answers with places of Google Maps. */
  googleMaps: (options: object = {}): VendorToolOptions => entry({ googleMaps: options }),

  /** Searches files in your stores at Google. */
  fileSearch: (options: {
    readonly fileSearchStoreNames: readonly string[];
    readonly topK?: number;
  }): VendorToolOptions => entry({ fileSearch: options }),
};

function entry(fields: { [field: string]: object }): VendorToolOptions {
  return { protocol: "gemini", entry: fields };
}
