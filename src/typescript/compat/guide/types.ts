/** The types of the guide's pieces. */
import type { Message } from "../../core/api/index.js";
import type { ApiBlock } from "../anthropic.js";

/** One message of a session, in a form that no vendor has. */
export type GenericMessage = SpokenMessage | ThinkingMessage | ToolCallMessage | ToolResultMessage;

export interface SpokenMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface ThinkingMessage {
  type: "thinking";
  content: string;
  /** The vendor's proof that it wrote this text itself. */
  signature?: string;
  /** The model that wrote a signed text. `makeInvokeModel` sends it back only to that model. */
  origin?: NonNullable<Message["origin"]>;
  compacted?: true;
}

export interface ToolCallMessage {
  type: "tool_call";
  name: string;
  id: string;
  input: object;
  compacted?: true;
}

export interface ToolResultMessage {
  type: "tool_result";
  id: string;
  output: string;
}

/** A conversation: messages in their order. */
export interface Session {
  messages: GenericMessage[];
}

export interface ToolDefinition {
  name: string;
  description: string;
  /** A JSON Schema. */
  input_schema: object;
}

/**
 * The functions of the tools, by name. A returned string is the output, any other value becomes JSON, `undefined`
 * becomes "", and an `Error` counts as thrown.
 */
export interface Handlers {
  [name: string]: (input: any) => unknown;
}

/** Calls the model once. Contract: returns what the model said, and does not change the session. */
export type InvokeModel = (
  tools: readonly ToolDefinition[],
  session: Session,
) => Promise<readonly GenericMessage[]> | readonly GenericMessage[];

/** A message of the Messages API. */
export interface ApiMessage {
  role: "user" | "assistant";
  content: string | ApiBlock[];
}
