/** `query`: a session with an agent, as a stream of messages. */
import type { Model } from "../../core/api/index.js";
import type { PermissionMode } from "../../core/api/permission.js";
import { readFile } from "./control/read-file.js";
import { unavailable } from "./control/unavailable.js";
import type { McpServers } from "./mcp.js";
import { supportedModels } from "./models.js";
import { wrong } from "./options/check.js";
import { checkOptions, plainOptions } from "./options/options.js";
import { Session } from "./session.js";
import type { Options, Query, SDKUserInput } from "./types.js";

/**
 * Runs an agent, and yields its messages: first `system` with the subtype `init`, each answer of the model, the
 * results of its tools, and `result` at the end of each turn. A text is one turn. An iterable may have many: a
 * message that arrives while the model is working is added before its next answer.
 *
 * @example
 * ```ts
 * import { query } from "looplet/agent-sdk";
 *
 * for await (const message of query({ prompt: "Hello", options: { model: "claude-opus-5-5" } })) {
 *   if (message.type === "result") console.log(message.subtype); // prints "success"
 * }
 * ```
 *
 * @throws TypeError for an option that is unknown or wrong
 */
export function query({
  prompt,
  options = {},
}: {
  prompt: string | AsyncIterable<SDKUserInput>;
  options?: Options | undefined;
}): Query {
  checkOptions(options);
  if (typeof prompt !== "string" && typeof prompt?.[Symbol.asyncIterator] !== "function")
    wrong("prompt", "needs a text or an async iterable of messages of the user");
  const plain = plainOptions(options);
  const session = new Session(prompt, plain);
  return Object.assign(session.messages(), {
    ...unavailable,
    interrupt: () => session.interrupt(),
    setPermissionMode: (mode: PermissionMode) => session.setPermissionMode(mode),
    setModel: (model?: string | Model) => session.setModel(model),
    setMaxThinkingTokens: (tokens: number | null) => session.setMaxThinkingTokens(tokens),
    setMcpServers: (servers: McpServers) => session.servers.set(servers),
    reconnectMcpServer: (name: string) => session.servers.reconnect(name),
    toggleMcpServer: (name: string, enabled: boolean) => session.servers.toggle(name, enabled),
    mcpServerStatus: async () => session.servers.reached.statuses,
    supportedAgents: async () => session.supported().agents,
    supportedCommands: async () => session.supported().commands,
    supportedModels: async () => supportedModels(),
    accountInfo: async () => ({}),
    initializationResult: async () => session.supported(),
    reinitialize: async () => session.supported(),
    getContextUsage: async () => session.contextUsage(),
    rewindFiles: (uuid: string, { dryRun = false }: { dryRun?: boolean } = {}) =>
      session.rewindFiles(uuid, dryRun),
    readFile: (path: string, how?: Parameters<Query["readFile"]>[1]) => readFile(plain, path, how),
    stopTask: (id: string) => session.stopTask(id),
    shutdown: (reason: string) => session.shutdown(reason),
    streamInput: (input: AsyncIterable<SDKUserInput>) => session.streamInput(input),
    close: () => session.close(),
  });
}
