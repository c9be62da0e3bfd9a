/** `looplet/ai-sdk`: the screen of the AI SDK on looplet's runs, and its models as models of looplet. */
export { aiSdkModel, type AiSdkModelOptions, type LanguageModelLike } from "./model/ai-sdk-model.js";
export { pageTool as clientTool } from "../../extras/tools/page-tool.js";
export { uiMessages, type UiFormatOptions } from "./format.js";
export { fromUIMessages, isVoid, type MessageOfUi } from "./from-ui.js";
export { isAnswered } from "./questions.js";
export type { SubagentCall, SubagentData } from "./subagent-parts.js";
export { toUIMessages, type ToUiOptions } from "./to-ui.js";
export {
  LoopletChatTransport,
  type AgentLike,
  type ReconnectOptions,
  type SendMessagesOptions,
  type TransportOptions,
} from "./transport.js";
export type { UiChunk, UIMessageLike, UiStream, UiStreamOptions } from "./types.js";
export { mistakeResponse, toUIMessageStreamResponse, uiStream, type UiResponseInit } from "./ui-stream.js";
