/** The service worker: it joins the panel of a tab, whose name is the tab's number, with the script in the tab. */
chrome.runtime.onConnect.addListener((panel) => {
  // The script of a page must not reach another page.
  if (panel.sender?.url?.startsWith(chrome.runtime.getURL("extension/panel.html")) !== true)
    return panel.disconnect();
  const page = chrome.tabs.connect(Number(panel.name), { frameId: 0 });
  panel.onMessage.addListener((message) => page.postMessage(message));
  page.onMessage.addListener((message) => panel.postMessage(message));
  panel.onDisconnect.addListener(() => page.disconnect());
  page.onDisconnect.addListener(() => {
    // A page without the script is no error: the panel tries again, and Chrome wants the error to be read.
    void chrome.runtime.lastError;
    panel.disconnect();
  });
});
