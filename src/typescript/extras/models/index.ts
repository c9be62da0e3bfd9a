/**
 * `looplet/models`: models that need no server of your own. They run in the browser, on the device or through a
 * Worker's binding.
 */
export { chromePrompt, type ChromePromptOptions } from "./chrome-prompt.js";
export { webllm, type WebLlmEngine, type WebLlmOptions } from "./webllm.js";
export { workersAi, type WorkersAiBinding, type WorkersAiOptions } from "./workers-ai.js";
export type * from "./language-model.js";
