/** A channel over ports that end with their page or with the extension's service worker, and are opened again. */
import { Listeners } from "../typescript/lab/devtools/live/listeners.js";
import { PROTOCOL, type DevtoolsChannel } from "../typescript/lab/devtools/live/protocol.js";

const RETRY_MS = 500;

/** Chrome ends a service worker that has received nothing for 30 seconds. */
const BEAT_MS = 20_000;

/** The channel of the tab of this number. */
export function portChannel(tab: string): DevtoolsChannel {
  const listeners = new Listeners();
  let port: ChromePort;
  const open = (): void => {
    port = chrome.runtime.connect({ name: tab });
    port.onMessage.addListener((message) => listeners.hear(message));
    port.onDisconnect.addListener(() => {
      listeners.lose();
      setTimeout(open, RETRY_MS);
    });
    post({ looplet: PROTOCOL, source: "", type: "hello" });
  };
  /** A port that has just ended throws. The hello of the next one makes up for it. */
  const post = (message: unknown): void => {
    try {
      port.postMessage(message);
    } catch {
      listeners.lose();
    }
  };
  open();
  setInterval(() => post(null), BEAT_MS);
  return {
    postMessage: post,
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
  };
}
