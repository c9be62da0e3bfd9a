/** What a program registers once and every agent finds by name: connections, tools, handlers of kinds of tools. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { Connection, PromptInputs, Prompty, PromptyHost, PromptyTool } from "./types.js";

export class Registry<T> {
  readonly #entries = new Map<string, T>();

  readonly register = (name: string, entry: T): void => {
    this.#entries.set(name, entry);
  };

  readonly get = (name: string): T | undefined => this.#entries.get(name);

  readonly clear = (): void => this.#entries.clear();
}

/** A tool by its name. Gets the arguments, with bindings in them. */
export type ToolFunction = (args: any) => unknown;

/** The function that runs tools of a kind that have no function. */
export type ToolHandler = (
  tool: PromptyTool,
  args: any,
  agent: Prompty,
  inputs: PromptInputs,
  around: { host: PromptyHost; signal?: HostAbortSignal | undefined },
) => unknown;

export const {
  register: registerConnection,
  get: getConnection,
  clear: clearConnections,
} = new Registry<Connection>();

export const { register: registerTool, get: getTool, clear: clearTools } = new Registry<ToolFunction>();

export const {
  register: registerToolHandler,
  get: getToolHandler,
  clear: clearToolHandlers,
} = new Registry<ToolHandler>();
