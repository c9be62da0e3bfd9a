/**
 * `looplet/workers`: an agent in a worker, in an extension or in another tab, behind an agent of the same type. It
 * needs no engine in the page: the worker's agent brings one.
 */
export { connectAgent } from "./remote-agent.js";
export type { AttachOptions, ConnectOptions, Followed, RemoteAgent, RemoteChat } from "./remote-agent.js";
export { serveAgent, type ExtensionRuntime, type ServedAgent, type ServeOptions } from "./serve.js";
export { shareAgent, type SharedAgent, type ShareOptions } from "./share.js";
export type { HostOptions } from "./host.js";
export type { AgentEndpoint, ExtensionPort, Messaging, ServiceWorkers } from "./links.js";
