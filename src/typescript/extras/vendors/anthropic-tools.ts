/** Tools that Anthropic defines, for `vendorTool`: types of `@anthropic-ai/sdk` 1.10.0 (2026-11-28). */
import type { Tool, ToolContext, VendorToolOptions } from "../../core/api/index.js";
import { vendorTool } from "../../core/index.js";
import type { Vfs } from "../vfs/index.js";
import { fieldsOf, located, type UserLocation } from "./entry.js";
import { memoryCommand, type MemoryOptions } from "./memory.js";

/** Who may call a tool: the model itself, or a program in Anthropic's code execution. */
export type AllowedCaller = "direct" | `code_execution_${string}`;

/** Options that most of Anthropic's tools have. */
interface EntryOptions {
  /** Default: all. `["direct"]` excludes the tool from code execution. */
  readonly allowedCallers?: readonly AllowedCaller[];
  /** Whether the model gets the tool only after it has found it by a search. Default false. */
  readonly deferLoading?: boolean;
}

interface WebOptions extends EntryOptions {
  /** Uses in one request. Default: any number. */
  readonly maxUses?: number;
  /** The only domains that may be read. Not together with `blockedDomains`. */
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  /** Whether results that only a program has seen are in the answer. Default `"full"`. */
  readonly responseInclusion?: "full" | "excluded";
}

export interface AnthropicWebSearch extends WebOptions {
  readonly userLocation?: UserLocation;
}

export interface AnthropicWebFetch extends WebOptions {
  /** The most tokens of one page. */
  readonly maxContentTokens?: number;
  readonly citations?: { readonly enabled: boolean };
  readonly useCache?: boolean;
}

export interface AnthropicMcp {
  /** The name of the server. */
  readonly name: string;
  readonly url: string;
  /** The token of the server. It is a part of the request to Anthropic. Default: none. */
  readonly authorizationToken?: string;
  /** The settings for every tool of the server. */
  readonly defaultConfig?: { readonly enabled?: boolean; readonly deferLoading?: boolean };
  /** The settings for a tool of the server, by its name there. */
  readonly configs?: {
    readonly [tool: string]: { readonly enabled?: boolean; readonly deferLoading?: boolean };
  };
}

/** Runs the calls of a member of a toolset. The input is the member's, as Anthropic documents it. */
export type ToolsetMember = (input: any, context: ToolContext) => unknown;

/** The functions that run the members of a toolset. The model does not get a member without a function. */
export type ToolsetMembers<Name extends string> = { readonly [name in Name]?: ToolsetMember | Partial<Tool> };

const BROWSER =
  "close_tab double_click file_upload find form_input get_page_text hold_key hover javascript_exec key left_click left_click_drag left_mouse_down left_mouse_up list_tabs middle_click mouse_move navigate new_tab read_console read_network read_page right_click screenshot scroll scroll_to switch_tab triple_click type wait zoom" as const;
const COMPUTER =
  "cursor_position double_click hold_key key left_click left_click_drag left_mouse_down left_mouse_up middle_click mouse_move right_click screenshot scroll triple_click type wait zoom" as const;

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
export type BrowserMember = Words<typeof BROWSER>;
export type ComputerMember = Words<typeof COMPUTER>;

/**
 * Tools that Anthropic defines. Each is an argument of `vendorTool`, but `browser` and `computer`, which are records
 * of tools: spread them into `tools`. For other versions give `vendorTool` the entry itself.
 */
export const anthropicTools = {
  /** Searches the web. The model's programs may call it too, unless `allowedCallers` is `["direct"]`. */
  webSearch({ userLocation, ...options }: AnthropicWebSearch = {}): VendorToolOptions {
    return entry("web_search_20260318", "web_search", { ...options, ...located(userLocation) });
  },

  /** Reads pages and PDF files by their URL. */
  webFetch: (options: AnthropicWebFetch = {}): VendorToolOptions =>
    entry("web_fetch_20260318", "web_fetch", options),

  /** Runs programs in a container of Anthropic's. */
  codeExecution: (options: EntryOptions = {}): VendorToolOptions =>
    entry("code_execution_20260521", "code_execution", options),

  /** Finds tools with `deferLoading`: by words (`"bm25"`, the default), or by a regular expression. */
  toolSearch({ by = "bm25" }: { readonly by?: "bm25" | "regex" } = {}): VendorToolOptions {
    return entry(`tool_search_tool_${by}_20251119`, `tool_search_tool_${by}`, {});
  },

  /** Lets the model ask another model. */
  advisor: (options: { readonly model: string; readonly maxUses?: number }): VendorToolOptions => ({
    ...entry("advisor_20260301", "advisor", options),
    headers: { "anthropic-beta": "advisor-tool-2026-03-01" },
  }),

  /** The tools of an MCP server that Anthropic connects to. */
  mcp({ name, url, authorizationToken, defaultConfig, configs = {} }: AnthropicMcp): VendorToolOptions {
    const tools = Object.entries(configs).map(([tool, config]) => [tool, fieldsOf(config)]);
    return {
      protocol: "anthropic",
      entry: {
        type: "mcp_toolset",
        mcp_server_name: name,
        ...(defaultConfig === undefined ? {} : { default_config: fieldsOf(defaultConfig) }),
        ...(tools.length === 0 ? {} : { configs: Object.fromEntries(tools) as object }),
      },
      headers: { "anthropic-beta": "mcp-client-2025-11-20" },
      body: { mcp_servers: [{ type: "url", ...fieldsOf({ url, name, authorizationToken }) }] },
    };
  },

  /** Notes that the model stores in files below `/memories`. The key in `tools` is `memory`. */
  memory: (
    vfs: Vfs,
    options: MemoryOptions = {},
  ): VendorToolOptions & { execute: NonNullable<Tool["execute"]> } => ({
    ...entry("memory_20250818", "memory", {}),
    execute: (input: any) => memoryCommand(vfs, input, options),
  }),

  /** Commands of a shell that you run; `{ restart: true }` asks for another shell. The key in `tools` is `bash`. */
  bash: (execute: (input: { command?: string; restart?: boolean }, context: ToolContext) => unknown) => ({
    ...entry("bash_20250124", "bash", {}),
    access: "shell" as const,
    execute: execute as NonNullable<Tool["execute"]>,
  }),

  /**
   * A browser that you control. Your functions run its actions: `navigate` is the tool `browser_navigate` for events
   * and permissions. Return screenshots as media.
   */
  browser: (members: ToolsetMembers<BrowserMember>): { [tool: string]: Tool } =>
    toolset("browser", "browser_toolset_20260801", BROWSER, members),

  /** A desktop that you control, like `browser`: `left_click` is the tool `computer_left_click`. */
  computer: (members: ToolsetMembers<ComputerMember>): { [tool: string]: Tool } =>
    toolset("computer", "computer_toolset_20260801", COMPUTER, members),
};

function entry(type: string, name: string, options: object): VendorToolOptions {
  return { protocol: "anthropic", entry: { type, name, ...fieldsOf(options) } };
}

/** The tool that brings the members along, and a tool for each member. */
function toolset(
  name: string,
  type: string,
  words: string,
  members: { readonly [name: string]: ToolsetMember | Partial<Tool> | undefined },
): { [tool: string]: Tool } {
  const configs = words.split(" ").map((member) => [member, { enabled: members[member] !== undefined }]);
  const tools: { [tool: string]: Tool } = {
    [name]: vendorTool({
      protocol: "anthropic",
      entry: { type, configs: Object.fromEntries(configs) as object },
    }),
  };
  for (const [member, given] of Object.entries(members)) {
    if (given === undefined) continue;
    const options = typeof given === "function" ? { execute: given } : given;
    tools[`${name}_${member}`] = vendorTool({ protocol: "anthropic", ...options } as VendorToolOptions);
  }
  return tools;
}
