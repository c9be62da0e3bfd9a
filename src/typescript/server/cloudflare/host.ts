/** The parts of Cloudflare's platform that a session in a Durable Object uses. */
import type { DurableObjectStorageLike } from "../../extras/stores/durable-object.js";

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

/** Both ends of a WebSocket: the client's and ours. */
export function socketPair(): [client: unknown, server: WebSocketLike] {
  const Pair = (globalThis as unknown as { WebSocketPair: new () => { 0: unknown; 1: WebSocketLike } })
    .WebSocketPair;
  const { 0: client, 1: server } = new Pair();
  return [client, server];
}
