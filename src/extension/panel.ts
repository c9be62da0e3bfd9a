/** The script of the panel. It runs after those of the engine and of the element. In a separate tab it needs `?tab=`. */
import type { LoopletDevtools } from "../typescript/lab/devtools/index.js";
import { portChannel } from "./port-channel.js";

const given = new URLSearchParams(location.search).get("tab");
const tab = given ?? String(chrome.devtools.inspectedWindow.tabId);
document.querySelector<LoopletDevtools>("looplet-devtools")!.attach(portChannel(tab));
