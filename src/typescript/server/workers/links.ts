/** The ways of messages between pages and hosts: workers, ports, channels and the ports of extensions. */

/** A `Worker`, a `MessagePort`, a `BroadcastChannel` or the scope of a dedicated worker. */
export interface Messaging {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: any) => void): void;
  removeEventListener(type: "message", listener: (event: any) => void): void;
  start?(): void;
}

/** `navigator.serviceWorker`. */
export interface ServiceWorkers {
  readonly ready: Promise<{ readonly active: { postMessage(message: unknown): void } | null }>;
  addEventListener(type: "message", listener: (event: any) => void): void;
  removeEventListener(type: "message", listener: (event: any) => void): void;
  startMessages?(): void;
}

/** A port of an extension, as `chrome.runtime.connect()` returns it. */
export interface ExtensionPort {
  postMessage(message: unknown): void;
  disconnect(): void;
  readonly onMessage: { addListener(listener: (message: any) => void): void };
  readonly onDisconnect: { addListener(listener: () => void): void };
}

/**
 * A channel to the host of an agent: a `Worker`, a `SharedWorker`, `navigator.serviceWorker`, a `MessagePort`, a
 * `BroadcastChannel`, or a function that opens a port of an extension, such as `() => chrome.runtime.connect()`.
 */
export type AgentEndpoint = Messaging | { readonly port: Messaging } | ServiceWorkers | (() => ExtensionPort);

/**
 * True for a window, the page's own or that of a frame. Frames of every origin can post messages to a window, so it
 * must not be used as a host or a page. Property access on another origin's window throws.
 */
export function isWindow(value: object): boolean {
  try {
    const { window, self, document } = value as { window?: unknown; self?: unknown; document?: unknown };
    return window === value || (self === value && typeof document === "object");
  } catch {
    return true;
  }
}

/** One end of a channel. */
export interface Link {
  post(message: object): void;
  close(): void;
}

interface FailureEvent {
  readonly type?: string;
  readonly message?: string;
}

/** An endpoint whose script may fail to load: a `Worker`, a `SharedWorker`. */
type Failing = Record<
  "addEventListener" | "removeEventListener",
  (type: "error" | "messageerror", listener: (event: FailureEvent) => void) => void
>;

/**
 * Opens the channel to a host. `hear` receives its messages. `lost` is called when the channel breaks; the next
 * message opens it again. `failed` receives why the host cannot start, or that a message cannot be read.
 */
export function linkTo(
  endpoint: AgentEndpoint,
  hear: (message: unknown) => void,
  lost: () => void,
  failed: (why: string) => void,
): Link {
  if (typeof endpoint === "function") return extensionLink(endpoint, hear, lost);
  if ("port" in endpoint) {
    const link = linkTo(endpoint.port, hear, lost, failed);
    const unwatch = watch(endpoint as object as Failing, failed);
    return { post: link.post, close: () => (unwatch(), link.close()) };
  }
  const listener = ({ data }: { data: unknown }): void => hear(data);
  endpoint.addEventListener("message", listener);
  const unwatch = watch(endpoint as object as Failing, failed);
  const close = (): void => {
    endpoint.removeEventListener("message", listener);
    unwatch();
  };
  if ("ready" in endpoint) {
    endpoint.startMessages?.();
    return {
      post: (message) => void endpoint.ready.then(({ active }) => active?.postMessage(message)),
      close,
    };
  }
  endpoint.start?.();
  return { post: (message) => endpoint.postMessage(message), close };
}

function watch(endpoint: Partial<Failing>, failed: (why: string) => void): () => void {
  const onError = ({ type, message }: FailureEvent): void => {
    if (type === "error") failed(message || "its script could not be loaded");
  };
  const onMessageError = ({ type }: FailureEvent): void => {
    if (type === "messageerror") failed("a message of it could not be read");
  };
  endpoint.addEventListener?.("error", onError);
  endpoint.addEventListener?.("messageerror", onMessageError);
  return () => {
    endpoint.removeEventListener?.("error", onError);
    endpoint.removeEventListener?.("messageerror", onMessageError);
  };
}

function extensionLink(
  connect: () => ExtensionPort,
  hear: (message: unknown) => void,
  lost: () => void,
): Link {
  let port: ExtensionPort | undefined;
  const open = (): ExtensionPort => {
    const opened = connect();
    opened.onMessage.addListener(hear);
    opened.onDisconnect.addListener(() => {
      port = undefined;
      lost();
    });
    return opened;
  };
  return {
    post: (message) => (port ??= open()).postMessage(message),
    close: () => port?.disconnect(),
  };
}
