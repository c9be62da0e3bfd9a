/**
 * The platform's own types, such as `AbortSignal`, where your project's libraries declare them. A project may compile
 * without the library `dom`; then these types list the members that looplet uses. The global types are looked up and
 * never redeclared, because Workers and Node have their own. Workers declare classes, which `typeof globalThis` does
 * not list; their types are those of the global `fetch`.
 */

/** The global `fetch`, taken apart. `never` stands for a part that the project's libraries do not declare. */
interface Fetched {
  readonly input: typeof globalThis extends { fetch: (input: infer T, ...rest: any) => unknown } ? T : never;
  readonly init: typeof globalThis extends { fetch: (input: any, init?: infer T) => unknown }
    ? NonNullable<T>
    : never;
  readonly response: typeof globalThis extends { fetch: (...given: any) => Promise<infer T> } ? T : never;
}

/** `T`, or `Other` where the libraries declare no `T`. */
type Declared<T, Other> = [T] extends [never] ? Other : T;

/** The member of `T`, or `never`. */
type Member<T, Name extends string> = T extends { readonly [name in Name]?: infer M }
  ? NonNullable<M>
  : never;

/** The platform's `AbortSignal`. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : Declared<
      Member<Fetched["init"], "signal">,
      {
        readonly aborted: boolean;
        readonly reason: any;
        throwIfAborted(): void;
        addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
        removeEventListener(type: "abort", listener: () => void): void;
      }
    >;

/** The platform's `AbortController`. */
export interface HostAbortController {
  readonly signal: HostAbortSignal;
  abort(reason?: any): void;
}

/** Bytes that any `fetch` accepts: `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 reads it too. */
export type HostBytes = ReturnType<Uint8Array["slice"]>;

/** The platform's `Headers`. */
export type HostHeaders = typeof globalThis extends { Headers: { prototype: infer T } }
  ? T
  : Declared<
      Member<Fetched["response"], "headers">,
      {
        get(name: string): string | null;
        forEach(callback: (value: string, name: string) => void): void;
        [Symbol.iterator](): IterableIterator<[string, string]>;
      }
    >;

/** The platform's `Response`. */
export type HostResponse = typeof globalThis extends { Response: { prototype: infer T } }
  ? T
  : Declared<
      Fetched["response"],
      {
        readonly ok: boolean;
        readonly status: number;
        readonly headers: HostHeaders;
        readonly body: unknown;
        arrayBuffer(): Promise<ArrayBuffer>;
        json(): Promise<any>;
        text(): Promise<string>;
      }
    >;

/** The platform's `Request`. */
export type HostRequest = typeof globalThis extends { Request: { prototype: infer T } }
  ? T
  : Declared<Extract<Fetched["input"], { readonly method: string }>, { readonly url: string }>;

/** The platform's `RequestInit`. */
export type HostRequestInit = typeof globalThis extends {
  Request: new (input: any, init?: infer T) => unknown;
}
  ? NonNullable<T>
  : Declared<
      Fetched["init"],
      { method?: string; headers?: any; body?: any; signal?: HostAbortSignal | null }
    >;

/** The platform's `URL`. */
export type HostUrl = typeof globalThis extends { URL: { prototype: infer T } }
  ? T
  : Declared<Extract<Fetched["input"], { readonly href: string }>, { readonly href: string }>;

/** The platform's `WebAssembly.Module`. */
export type HostWasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer T } } }
  ? T
  : object;

/** The platform's `ReadableStream`, of bytes. */
export type HostByteStream = typeof globalThis extends { ReadableStream: { prototype: infer T } }
  ? T
  : Declared<
      Member<Fetched["response"], "body">,
      { getReader(): unknown; cancel(reason?: unknown): Promise<void> }
    >;
