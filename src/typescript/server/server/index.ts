/**
 * `looplet/server`: the sessions of an agent behind requests, for Workers, Node, Deno, Bun and every router that has
 * `Request` and `Response`. It needs no engine of its own: your agent brings one.
 */
export { handler, type Handler, type HandlerOptions, type Owner } from "./handler.js";
export type { EventFormat, FormattedRun, ReadOrder } from "./formats.js";
export type { RequestLike } from "./http.js";
export type { ChatAgent } from "./chat-session.js";
export { historyFromPage, promptFromPage } from "../../extras/tools/from-page.js";
