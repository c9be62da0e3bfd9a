/** The hidden page that the browser opens with its devtools: it adds the panel. */
chrome.devtools.panels.create("looplet", "", "extension/panel.html");
