/** `looplet/cloudflare`: a session of an agent in a Durable Object. It contains no engine: it uses your agent's. */
export { AgentObject, type AgentObjectOptions } from "./agent-object.js";
export type { RequestLike } from "../server/http.js";
export type { DurableObjectStateLike, WebSocketLike } from "./host.js";
