/** `.prompty` files into agents. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { ValueError } from "../errors.js";
import { checkedMap, isMap, splitFile } from "./frontmatter.js";
import { propertiesOf } from "./properties.js";
import { readText, References } from "./references.js";
import type { Prompty, PromptyHost, PromptyModel, PromptyTool } from "../types.js";

/**
 * Loads a file by `host.vfs`. An abort of `signal` ends it.
 *
 * @throws FileNotFoundError
 * @throws ValueError for a wrong file, and for a reference that leads nowhere or out of the file's folder
 */
export async function load(
  path: string,
  { host = {}, signal }: { host?: PromptyHost; signal?: HostAbortSignal | undefined } = {},
): Promise<Prompty> {
  return loadPrompty(await readText(path, host, signal), { base: path, host, signal });
}

/**
 * Loads the text of a file, such as a bundler's raw import. `base` is the path that the file would have: `${file:…}`
 * and tools of kind `prompty` are relative to it.
 *
 * @throws ValueError as `load`
 */
export async function loadPrompty(
  text: string,
  {
    base,
    host = {},
    signal,
  }: { base?: string; host?: PromptyHost; signal?: HostAbortSignal | undefined } = {},
): Promise<Prompty> {
  if (typeof text !== "string") throw new ValueError("loadPrompty needs the text of a file");
  const references = new References(base ?? "", host, signal);
  const { head, instructions } = splitFile(references.take(text));
  const resolved = (await references.resolve(head)) as { [field: string]: unknown };
  const { name, displayName, description, metadata } = resolved;
  return {
    kind: "prompt",
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof displayName === "string" ? { displayName } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(isMap(metadata) ? { metadata } : {}),
    model: modelOf(resolved["model"]),
    inputs: propertiesOf(resolved["inputs"], "inputs"),
    outputs: propertiesOf(resolved["outputs"], "outputs"),
    tools: toolsOf(resolved["tools"]),
    template: templateOf(resolved["template"]),
    instructions,
    ...(base === undefined ? {} : { path: base }),
  };
}

function modelOf(model: unknown): PromptyModel {
  if (model === undefined || model === null) return { id: "", apiType: "chat" };
  if (typeof model === "string") return { id: model, apiType: "chat" };
  if (!isMap(model)) throw new ValueError("invalid frontmatter: model needs a name or a mapping");
  const given = checkedMap(model, "model", MODEL);
  if (!isMap(given["options"])) return { apiType: "chat", id: "", ...given };
  const options = checkedMap(given["options"], "model.options", { additionalProperties: "a mapping" });
  return { apiType: "chat", id: "", ...given, options };
}

const MODEL = {
  id: "a text",
  provider: "a text",
  apiType: "a text",
  connection: "a mapping",
  options: "a mapping",
} as const;

function templateOf(template: unknown): Prompty["template"] {
  const kindOf = (part: unknown, fallback: string): { kind: string } => {
    if (part === undefined || part === null) return { kind: fallback };
    if (!isMap(part) || typeof part["kind"] !== "string") throw new ValueError(INVALID_TEMPLATE);
    return { ...part, kind: part["kind"] };
  };
  if (template !== undefined && template !== null && !isMap(template)) throw new ValueError(INVALID_TEMPLATE);
  return { format: kindOf(template?.["format"], "jinja2"), parser: kindOf(template?.["parser"], "prompty") };
}

const INVALID_TEMPLATE = "Invalid template format: template needs { format: { kind }, parser: { kind } }";

function toolsOf(tools: unknown): PromptyTool[] {
  if (tools === undefined || tools === null) return [];
  const list = isMap(tools)
    ? Object.entries(tools).map(([name, tool]) => (isMap(tool) ? { name, ...tool } : tool))
    : tools;
  if (!Array.isArray(list)) throw new ValueError("invalid frontmatter: tools needs a list");
  return list.map((tool: unknown, at) => {
    if (!isMap(tool) || typeof tool["name"] !== "string")
      throw new ValueError(`invalid frontmatter: tools[${at}] needs a name`);
    const { name, kind = "function", parameters, bindings, ...more } = checkedMap(tool, `tools[${at}]`, TOOL);
    return {
      ...more,
      name: String(name),
      kind: String(kind),
      ...(parameters === undefined
        ? {}
        : { parameters: propertiesOf(parameters, `tools[${at}].parameters`) }),
      ...(isMap(bindings) ? { bindings: bindingsOf(bindings) } : {}),
    } as PromptyTool;
  });
}

const TOOL = {
  name: "a text",
  kind: "a text",
  description: "a text",
  strict: "true or false",
  bindings: "a mapping",
  path: "a text",
  mode: "a text",
} as const;

/** A binding is `{ input }` or the input's name. */
function bindingsOf(bindings: { [parameter: string]: unknown }): { [parameter: string]: { input: string } } {
  return Object.fromEntries(
    Object.entries(bindings).map(([parameter, binding]) => [
      parameter,
      { input: String(isMap(binding) ? binding["input"] : binding) },
    ]),
  );
}
