/**
 * `looplet/server`: the sessions of an agent over HTTP, for Workers, Node, Deno, Bun and every router with `Request`
 * and `Response`. It contains no engine: it uses your agent's.
 */
export { handler, type Handler, type HandlerOptions, type Owner } from "./handler.js";
export type { EventFormat, FormattedRun, ReadOrder } from "./formats.js";
export type { RequestLike } from "./http.js";
export type { ChatAgent } from "./chat-session.js";
export { historyFromPage, promptFromPage } from "../../extras/tools/from-page.js";
