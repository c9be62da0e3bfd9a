/** The script of the page that `serveDevtools` serves, after those of the engine and of the element. */
import type { LoopletDevtools } from "../index.js";
import { eventsChannel } from "./events-channel.js";

document.querySelector<LoopletDevtools>("looplet-devtools")!.attach(eventsChannel("events", "ask"));
