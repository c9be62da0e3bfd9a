// The part of the browser's API for extensions that this one uses.

interface Heard<T> {
  addListener(listener: (value: T) => void): void;
}

interface ChromePort {
  readonly name: string;
  readonly sender?: { readonly url?: string };
  readonly onMessage: Heard<unknown>;
  readonly onDisconnect: Heard<ChromePort>;
  postMessage(message: unknown): void;
  disconnect(): void;
}

declare const chrome: {
  readonly runtime: {
    readonly lastError?: { readonly message?: string };
    readonly onConnect: Heard<ChromePort>;
    connect(options: { readonly name: string }): ChromePort;
    getURL(path: string): string;
  };
  /** Those of an extension's pages and of its service worker. */
  readonly tabs: { connect(tab: number, options: { readonly frameId: number }): ChromePort };
  /** Only in the browser's devtools. */
  readonly devtools: {
    readonly inspectedWindow: { readonly tabId: number };
    readonly panels: { create(title: string, icon: string, page: string): void };
  };
};
