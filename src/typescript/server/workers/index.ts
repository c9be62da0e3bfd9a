/**
 * `looplet/workers`: an agent in a worker, in an extension, in another tab or on a server, used through an agent of
 * the same type. The page needs no engine: it uses the worker's or the server's.
 */
export { connectAgent } from "./remote-agent.js";
export type {
  AddressOptions,
  AttachOptions,
  ConnectOptions,
  Followed,
  PageFunctionOptions,
  RemoteAgent,
  RemoteChat,
} from "./remote-agent.js";
export type { PageFunction, PageFunctions, PageToolContext } from "./pages/functions.js";
export { serveAgent, type ExtensionRuntime, type ServedAgent, type ServeOptions } from "./serve.js";
export { shareAgent, type SharedAgent, type ShareOptions } from "./share.js";
export type { HostOptions } from "./host.js";
export type { AgentEndpoint, ExtensionPort, Messaging, ServiceWorkers } from "./links.js";
export type { AddressFetch, AddressHeaders, AddressInit } from "./http/address.js";
