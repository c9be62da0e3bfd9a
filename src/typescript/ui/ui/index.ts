/** `looplet/ui`: a conversation for a screen, without a framework. It contains no engine: it uses your agent's. */
export {
  conversation,
  type Conversation,
  type ConversationAgent,
  type ConversationOptions,
  type SendOptions,
} from "./conversation.js";
export type { FileLike } from "./input/files.js";
export type { Frame } from "./frame.js";
export type {
  AgentUiPart,
  Answers,
  Branch,
  CompactionUiPart,
  FileUiPart,
  OpenQuestion,
  UiPart,
  RawUiPart,
  ReasoningUiPart,
  SourceUiPart,
  TextUiPart,
  ToolUiPart,
  ToolState,
  UiMessage,
} from "./message.js";
export type {
  BudgetLeft,
  ConversationError,
  ConversationSnapshot,
  ConversationStatus,
  QueuedMessage,
} from "./snapshot.js";
export { failureText, type FailureTexts, type ShownFailure } from "../../extras/transcript/failure-text.js";
export { todosOf, type TodoItem } from "./todos.js";
export { withResult } from "./joined.js";
export { reduce } from "./reduce.js";
export { viewOf, viewOfTranscripts, withPrompt, type Notice, type View } from "./view.js";
