/**
 * The host's own types, where its libraries declare them, and what looplet uses of them where they do not: a project
 * may compile without the library `dom`. The host's globals are asked, not redeclared: Workers and Node have their own.
 */

/** The host's `AbortSignal`. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : {
      readonly aborted: boolean;
      readonly reason: any;
      throwIfAborted(): void;
      addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** The host's `Headers`. */
export type HostHeaders = typeof globalThis extends { Headers: { prototype: infer T } }
  ? T
  : {
      get(name: string): string | null;
      forEach(callback: (value: string, name: string) => void): void;
      [Symbol.iterator](): IterableIterator<[string, string]>;
    };

/** The host's `Response`. */
export type HostResponse = typeof globalThis extends { Response: { prototype: infer T } }
  ? T
  : {
      readonly ok: boolean;
      readonly status: number;
      readonly headers: HostHeaders;
      readonly body: unknown;
      arrayBuffer(): Promise<ArrayBuffer>;
      json(): Promise<any>;
      text(): Promise<string>;
    };

/** The host's `Request`. */
export type HostRequest = typeof globalThis extends { Request: { prototype: infer T } }
  ? T
  : { readonly url: string };

/** The host's `RequestInit`. */
export type HostRequestInit = typeof globalThis extends {
  Request: new (input: any, init?: infer T) => unknown;
}
  ? NonNullable<T>
  : { method?: string; headers?: any; body?: any; signal?: HostAbortSignal | null };

/** The host's `URL`. */
export type HostUrl = typeof globalThis extends { URL: { prototype: infer T } }
  ? T
  : { readonly href: string };

/** The host's `WebAssembly.Module`. */
export type HostWasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer T } } }
  ? T
  : object;
