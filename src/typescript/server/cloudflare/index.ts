/** `looplet/cloudflare`: a session of an agent in a Durable Object. It needs no engine of its own: your agent brings one. */
export { AgentObject, type AgentObjectOptions } from "./agent-object.js";
export type { RequestLike } from "../server/http.js";
export type { DurableObjectStateLike, WebSocketLike } from "./host.js";
