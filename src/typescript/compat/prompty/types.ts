/** The types of a `.prompty` file and of a conversation. */
import type { Clock } from "../../core/api/index.js";
import type { Host } from "../host.js";
import type { Tracer } from "./tracer.js";

export interface PromptInputs {
  [name: string]: unknown;
}

/** A parameter, an input or an output. */
export interface Property {
  name: string;
  /** `string`, `integer`, `float`, `boolean`, `array` or `object`; for inputs also `thread`, `image`, `file`, `audio`. */
  kind: string;
  description?: string;
  /** Default false. */
  required?: boolean;
  default?: unknown;
  example?: unknown;
  enumValues?: unknown[];
  /** The property of each item of an `array`. */
  items?: Omit<Property, "name"> & { name?: string };
  /** The properties of an `object`. */
  properties?: Property[];
  /** Whether a value that forges the beginning of a message is refused. Default false. */
  strict?: boolean;
}

export interface PromptyModelOptions {
  temperature?: number;
  maxOutputTokens?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stopSequences?: string[];
  allowMultipleToolCalls?: boolean;
  /** Fields that go into the request as they are. */
  additionalProperties?: { [name: string]: unknown };
}

export interface Connection {
  /** `key`, `reference`, `remote`, `anonymous`, `foundry` or `oauth`. */
  kind?: string;
  endpoint?: string;
  apiKey?: string;
  name?: string;
  [field: string]: unknown;
}

export interface PromptyModel {
  id: string;
  /** The key of the executor and of the processor. Default `openai`. */
  provider?: string;
  /** `chat`, `responses`, `embedding` or `image`. */
  apiType: string;
  connection?: Connection;
  options?: PromptyModelOptions;
}

/** A tool of an agent. Its `kind` says which of the fields it has. */
export interface PromptyTool {
  name: string;
  /** `function`, `prompty`, or the key of a kind handler. */
  kind: string;
  description?: string;
  parameters?: Property[];
  strict?: boolean;
  /** Parameters that are taken from the inputs of the agent. */
  bindings?: { [parameter: string]: { input: string } };
  /** The file of a tool of kind `prompty`, relative to the file of its agent. */
  path?: string;
  /** Of a tool of kind `prompty`: one model call, or a loop. Default `single`. */
  mode?: "single" | "agentic";
  [field: string]: unknown;
}

/** A `.prompty` file, loaded. */
export interface Prompty {
  kind: "prompt";
  name?: string;
  displayName?: string;
  description?: string;
  metadata?: { [name: string]: unknown };
  model: PromptyModel;
  inputs: Property[];
  outputs: Property[];
  tools: PromptyTool[];
  template: { format: { kind: string }; parser: { kind: string } };
  /** The text below the frontmatter. */
  instructions: string;
  /** The path of the file, if it was loaded by a path or with a `base`. */
  path?: string;
}

export interface TextPart {
  kind: "text";
  value: string;
}

export interface MediaPart {
  kind: "image" | "file" | "audio";
  /** An address, or the bytes in base64. */
  value: string;
  /** Such as `image/png`. Needed with bytes. */
  mediaType?: string;
}

export type ContentPart = TextPart | MediaPart;

export interface Message {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content: ContentPart[];
  /** The attributes of a role marker, and what an executor stores of tool calls. */
  metadata?: { [name: string]: unknown };
}

/** A call that a model asks for. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

export interface ToolResult {
  tool_call_id: string;
  /** The text of the result. */
  result: string;
  /** The whole result, if it is not only text. */
  parts?: readonly ContentPart[];
}

/** What reads files. `node:fs/promises` is one. */
export interface Files {
  readFile(path: string): Promise<string | Uint8Array> | string | Uint8Array;
  /** The path without links. With it a link cannot lead out of the folder. */
  realpath?(path: string): Promise<string> | string;
}

/** What a program provides to `looplet/prompty`. Nothing else is read from the process or the disk. */
export interface PromptyHost extends Host {
  /** Values for `${env:NAME}`. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** Reads `.prompty` files and `${file:…}`. Default: the global `fetch`, which reads addresses. */
  vfs?: Files | undefined;
  /** Folders that `${file:…}` and tools of kind `prompty` may access in addition to the file's own. */
  roots?: readonly string[] | undefined;
  /**
   * Addresses that a file's `model.connection.endpoint` may name, including the paths below them. They receive the
   * key and the prompts. Default: only the provider's own.
   */
  allowedEndpoints?: readonly string[] | undefined;
  /**
   * Fields of `model.options.additionalProperties` that a file may set although a vendor then calls other servers or
   * stores conversations: `tools`, `mcp_servers`, `store`, `previous_response_id` and the like. Default: none.
   */
  allowedProperties?: readonly string[] | undefined;
  /** Receive the spans of this call, in addition to those of the registry. */
  tracers?: readonly Tracer[] | undefined;
  clock?: Clock | undefined;
}
