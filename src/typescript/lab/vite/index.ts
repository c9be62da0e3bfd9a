export { hotAgent, type HotModule } from "./hot-agent.js";
export { hotReload, type HotReloadPlugin } from "./plugin.js";
