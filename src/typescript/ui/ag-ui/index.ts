/**
 * `looplet/ag-ui`: AG-UI 1.0, the protocol of CopilotKit and other front ends.
 *
 * - `agUiHandler` serves an agent to pages.
 * - `agUiAgent` is an agent of `@ag-ui/client` that runs in the page.
 * - `toAgUi` and `agUiResponse` translate a run that you started.
 */
export { agUi } from "./served/format.js";
export { agUiHandler, type AgUiHandlerOptions } from "./handler.js";
export { agUiAgent, type AgUiAgentOptions, type HttpAgentClass } from "./page-agent.js";
export { agUiResponse, toAgUi, type AgUiOptions, type AgUiSource } from "./stream.js";
export { agUiChatId, type AgUiAgents, type AgUiAsked, type AgUiThreadOptions } from "./threads.js";
export type {
  AgUiEvent,
  AgUiInput,
  AgUiInterrupt,
  AgUiMessage,
  AgUiOutcome,
  AgUiOwn,
  AgUiResume,
  AgUiSent,
  AgUiTool,
  AgUiToolCall,
  AgUiUsage,
} from "./types.js";
