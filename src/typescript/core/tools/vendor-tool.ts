/** `vendorTool()`: a tool that a vendor defines, next to the tools of the agent. */
import { LoopletError } from "../api/errors.js";
import type { HostedTool, Tool, VendorEntry, VendorToolOptions } from "../api/index.js";
import type { OptionTable } from "../option-table.js";
import type { ToolConfig } from "../generated/input.js";
import { at, checkChoice, checkOptions, describe, isRecord } from "../options/check.js";
import { given, PROTOCOLS } from "../options/options.js";

type Entry = { readonly [field: string]: unknown };

/**
 * Makes a tool of an entry in the vendor's own form, which goes into the request's list of tools as it is. The vendor
 * runs its calls, unless you give `execute`. The key in `tools` is the name by which permissions and warnings know
 * the tool. `looplet/vendors` has entries of Anthropic, OpenAI and Google.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, vendorTool } from "looplet";
 *
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({
 *   model,
 *   tools: { search: vendorTool({ type: "web_search_20260318", name: "web_search", max_uses: 3 }) },
 * });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function vendorTool(
  options: VendorToolOptions & { readonly execute: NonNullable<Tool["execute"]> },
): Tool;
export function vendorTool(entry: VendorToolOptions | (Entry & { readonly entry?: never })): HostedTool;
export function vendorTool(first: VendorToolOptions | Entry): Tool {
  if (!isRecord(first)) {
    const problem = `needs an entry of the request's list of tools, got ${describe(first)}`;
    throw new LoopletError("config_wrong_type", "vendorTool", problem);
  }
  const isEntry = first["entry"] === undefined && first["protocol"] === undefined;
  const { entry, protocol, headers, body, item, ...options } = (
    isEntry ? { entry: first } : first
  ) as VendorToolOptions;
  const vendor: VendorEntry = Object.fromEntries(
    Object.entries({ entry, protocol, headers, body, item }).filter(([, value]) => value !== undefined),
  );
  checkVendor(vendor, "vendorTool");
  const name = entry?.["name"];
  return {
    inputSchema: { type: "object" },
    ...(typeof name === "string" ? { name } : {}),
    ...options,
    vendor,
  } as Tool;
}

/**
 * The engine's part of a vendor's tool with this name.
 *
 * @throws LoopletError `config_…`
 */
export function vendorConfig(
  { vendor, execute, kind }: Tool,
  name: string,
  field: string,
): ToolConfig["vendor"] | undefined {
  if (vendor === undefined) return undefined;
  checkVendor(vendor, at(field, "vendor"));
  const hosted = execute === undefined && kind === undefined;
  const called = vendor.item === undefined ? vendor.entry?.["name"] : undefined;
  if (!hosted && typeof called === "string" && called !== name) {
    const problem = `the model calls this tool "${called}"; give it that name`;
    throw new LoopletError("config_invalid_value", field, problem);
  }
  const { headers, ...rest } = given(vendor, VENDOR_TABLE) as VendorEntry;
  return { ...rest, ...(headers === undefined ? {} : { headers: Object.entries(headers) }), hosted };
}

function checkVendor(vendor: VendorEntry, field: string): void {
  const { protocol } = checkOptions(vendor, field, VENDOR_TABLE);
  if (protocol !== undefined) checkChoice(protocol, at(field, "protocol"), PROTOCOLS);
}

const VENDOR_TABLE: OptionTable = {
  entry: "object",
  protocol: "text",
  headers: "object",
  body: "object",
  item: "text",
};
