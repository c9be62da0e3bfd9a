/**
 * `looplet/devtools`: the custom element `<looplet-devtools>`, which shows recorded runs step by step: files, and the
 * live runs of agents that are published on a channel (`looplet/devtools/publish`).
 *
 * The folder `devtools/` has the model of what is shown (`model/`), its components (`view/`) and the channel
 * (`live/`). It contains no engine: also import an entry of looplet.
 */
export { LoopletDevtools } from "./element.js";
export type { DevtoolsHost, HostedFork } from "./model/lab.js";
export type { DevtoolsChannel, ForkChanges, OfferedAgent } from "./live/protocol.js";
