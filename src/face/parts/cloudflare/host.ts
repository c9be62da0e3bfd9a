/** The parts of Cloudflare's platform that a session in a Durable Object uses. */
import type { HostRequest, HostResponse } from "../../core/api/platform.js";
import type { DurableObjectStorageLike } from "../stores/durable-object.js";

/** The part of the `ctx` of a Durable Object that {@link AgentObject} uses. */
export interface DurableObjectStateLike {
  readonly storage: DurableObjectStorageLike & {
    setAlarm(timeMs: number): Promise<void>;
    deleteAlarm(): Promise<void>;
  };
  acceptWebSocket(socket: any): void;
  getWebSockets(): readonly WebSocketLike[];
}

/** A WebSocket that hibernates with its object. */
export interface WebSocketLike {
  send(message: string): void;
  close(code?: number, reason?: string): void;
}

/** A request with the members that every platform has. */
export type RequestLike = HostRequest & {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
};

/** The platform's `Response`, whose type does not name what Workers add. */
export const respond = (
  body: unknown,
  init: { status?: number; headers?: { [name: string]: string }; webSocket?: unknown } = {},
): HostResponse =>
  new (globalThis as unknown as { Response: new (body: unknown, init: object) => HostResponse }).Response(
    body,
    init,
  );

export const json = (value: unknown, status = 200): HostResponse =>
  respond(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

/** Both ends of a WebSocket: that of the client, and ours. */
export function socketPair(): [client: unknown, server: WebSocketLike] {
  const Pair = (globalThis as unknown as { WebSocketPair: new () => { 0: unknown; 1: WebSocketLike } })
    .WebSocketPair;
  const { 0: client, 1: server } = new Pair();
  return [client, server];
}
