/**
 * The script in a page: it does nothing until the panel of the tab connects, and then hands messages on between the
 * panel and the page's `BroadcastChannel("looplet")`.
 */
chrome.runtime.onConnect.addListener((port) => {
  const channel = new BroadcastChannel("looplet");
  const isOurs = (message: unknown): boolean =>
    typeof message === "object" && message !== null && "looplet" in message;
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (isOurs(data)) port.postMessage(data);
  };
  port.onMessage.addListener((message) => {
    if (isOurs(message)) channel.postMessage(message);
  });
  port.onDisconnect.addListener(() => channel.close());
});
