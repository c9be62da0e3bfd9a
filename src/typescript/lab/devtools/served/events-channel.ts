/** The page's end of a channel over HTTP: Server-Sent Events down, requests up. */
import { fetchOnce } from "../../../core/kit/http.js";
import { Listeners } from "../live/listeners.js";
import type { DevtoolsChannel } from "../live/protocol.js";

/**
 * The channel of a process that serves devtools. While the process does not answer, its publishers count as
 * disconnected. The browser reconnects automatically.
 */
export function eventsChannel(eventsUrl: string, askUrl: string): DevtoolsChannel {
  const listeners = new Listeners();
  const events = new EventSource(eventsUrl);
  events.onmessage = ({ data }) => listeners.hear(JSON.parse(data as string));
  events.onerror = () => listeners.lose();
  return {
    postMessage(message) {
      const headers = { "content-type": "application/json" };
      // Devtools report a missing reply.
      const init = { method: "POST", headers, body: JSON.stringify(message) };
      fetchOnce<Promise<unknown>>(undefined, askUrl, init).catch(() => {});
    },
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
  };
}
