/** Tools that OpenAI defines, for `vendorTool`: types of `openai` 7.55.0, Responses (2026-11-28). */
import type { Tool, ToolContext, VendorToolOptions } from "../../core/api/index.js";
import { fieldsOf, located, type UserLocation } from "./entry.js";

type Execute = NonNullable<Tool["execute"]>;
type Run = VendorToolOptions & { execute: Execute };

export interface OpenaiWebSearch {
  readonly filters?: { readonly allowedDomains?: readonly string[] };
  readonly searchContextSize?: "low" | "medium" | "high";
  readonly userLocation?: UserLocation;
}

export interface OpenaiFileSearch {
  readonly vectorStoreIds: readonly string[];
  readonly maxNumResults?: number;
  /** As OpenAI has it: `{ type: "eq", key, value }`, or `{ type: "and", filters }`. */
  readonly filters?: object;
  readonly rankingOptions?: object;
}

export interface OpenaiImageGeneration {
  readonly model?: string;
  readonly action?: "generate" | "edit" | "auto";
  readonly background?: "transparent" | "opaque" | "auto";
  readonly quality?: "low" | "medium" | "high" | "auto";
  readonly outputFormat?: "png" | "webp" | "jpeg";
  /** For example `"1024x1024"`. */
  readonly size?: string;
}

export interface OpenaiMcp {
  /** The name of the server in calls. */
  readonly serverLabel: string;
  readonly serverUrl?: string;
  readonly connectorId?: string;
  readonly serverDescription?: string;
  /** The token of the server. It is a part of the request to OpenAI. Default: none. */
  readonly authorization?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly allowedTools?: readonly string[];
  /** Default `"always"` at OpenAI: each call waits for an `mcp_approval_response` in the next prompt. */
  readonly requireApproval?: "always" | "never" | object;
  /** Whether the model gets the tools only after it has found them by a search. Default false. */
  readonly deferLoading?: boolean;
}

/** The call of a shell. */
export interface ShellCall {
  readonly action: {
    readonly commands: readonly string[];
    readonly timeout_ms?: number;
    readonly max_output_length?: number;
  };
}

/** The result of one command of a shell. */
export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: "exit"; readonly exit_code: number } | { readonly type: "timeout" };
}

/** A change of one file. `diff` is in OpenAI's form of patches. */
export interface PatchCall {
  readonly operation:
    | { readonly type: "create_file" | "update_file"; readonly path: string; readonly diff: string }
    | { readonly type: "delete_file"; readonly path: string };
}

/** The form that a custom tool's text must have. */
export interface Grammar {
  readonly syntax: "lark" | "regex";
  readonly definition: string;
}

/** Tools that OpenAI defines, for models that speak Responses. Each is an argument of `vendorTool`. */
export const openaiTools = {
  /** Searches the web. The answer names its sources. */
  webSearch({ userLocation, filters, ...options }: OpenaiWebSearch = {}): VendorToolOptions {
    const allowed = filters === undefined ? {} : { filters: fieldsOf(filters) };
    const more = { ...allowed, ...located(userLocation) };
    return {
      ...entry("web_search", { ...options, ...more }),
      body: { include: ["web_search_call.action.sources"] },
    };
  },

  /** Searches files in your vector stores at OpenAI. */
  fileSearch: (options: OpenaiFileSearch): VendorToolOptions => ({
    ...entry("file_search", options),
    body: { include: ["file_search_call.results"] },
  }),

  /** Runs Python in a container of OpenAI's. Default: a new container for each answer. */
  codeInterpreter: ({
    container = { type: "auto" },
  }: { readonly container?: string | object } = {}): VendorToolOptions => ({
    ...entry("code_interpreter", { container }),
    body: { include: ["code_interpreter_call.outputs"] },
  }),

  /** Makes images. */
  imageGeneration: (options: OpenaiImageGeneration = {}): VendorToolOptions =>
    entry("image_generation", options),

  /** The tools of an MCP server, or of a connector, that OpenAI calls. */
  mcp: (options: OpenaiMcp): VendorToolOptions => entry("mcp", options),

  /** Lets the model's programs call tools that allow it. */
  programmaticToolCalling: (): VendorToolOptions => entry("programmatic_tool_calling", {}),

  /** Commands that OpenAI runs in its own container. */
  hostedShell: ({
    environment = { type: "container_auto" },
  }: { readonly environment?: object } = {}): VendorToolOptions => entry("shell", { environment }),

  /** Commands that you run. Return a list with a {@link ShellOutput} for each, or a text. */
  shell: (execute: (input: ShellCall, context: ToolContext) => unknown): Run => ({
    ...entry("shell", { environment: { type: "local" } }),
    item: "shell_call",
    access: "shell",
    execute: execute as Execute,
  }),

  /** File changes that you perform. Return a text. If you throw, the model is told that the patch failed. */
  applyPatch: (execute: (input: PatchCall, context: ToolContext) => unknown): Run => ({
    ...entry("apply_patch", {}),
    item: "apply_patch_call",
    execute: execute as Execute,
  }),

  /** A computer that you control. Return a screenshot as media. */
  computer: (execute: (input: any, context: ToolContext) => unknown): Run => ({
    ...entry("computer", {}),
    item: "computer_call",
    execute: execute as Execute,
  }),

  /** A tool with a text input, in the form of a grammar if you pass one. The key in `tools` is its `name`. */
  custom: (options: {
    readonly name: string;
    readonly description?: string;
    readonly grammar?: Grammar;
    readonly execute: (input: { readonly input: string }, context: ToolContext) => unknown;
  }): Run => {
    const { name, description, grammar, execute } = options;
    const format = grammar === undefined ? undefined : { type: "grammar", ...grammar };
    return { ...entry("custom", { name, description, format }), execute: execute as Execute };
  },
};

function entry(type: string, options: object): VendorToolOptions {
  return { protocol: "openai_responses", entry: { type, ...fieldsOf(options) } };
}
