/**
 * `looplet/devtools`: the custom element `<looplet-devtools>`, which shows recorded runs step by step: files, and the
 * live runs of agents that are published on a channel (`looplet/devtools/publish`).
 *
 * The room `devtools/` has the model of what is shown (`model/`), its components (`view/`) and the channel (`live/`).
 * It has no engine of its own; import an entry of looplet beside it.
 */
export { LoopletDevtools } from "./element.js";
export type { DevtoolsHost, HostedFork } from "./model/lab.js";
export type { DevtoolsChannel, ForkChanges, OfferedAgent } from "./live/protocol.js";
