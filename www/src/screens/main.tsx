/** The tab of front ends that others have made. Their packages weigh 500 MB, so they are bundled on demand. */
import { createRoot } from "react-dom/client";
import { Header } from "../chat/header.js";

const bundle = new URL("/screens/chats.js", location.href).href;

function Page() {
  return (
    <>
      <Header tab="Screens" />
      <main className="scroller" id="screens" ref={(place) => void (place && load(place))} />
    </>
  );
}

async function load(place: HTMLElement): Promise<void> {
  const { headers } = await fetch(bundle, { method: "HEAD" });
  if (headers.get("content-type")?.includes("javascript")) {
    const style = { rel: "stylesheet", href: bundle.replace(/js$/, "css") };
    document.head.append(Object.assign(document.createElement("link"), style));
    const { show } = (await import(/* @vite-ignore */ bundle)) as { show(place: HTMLElement): void };
    return show(place);
  }
  const lead = document.createElement("p");
  lead.className = "lead";
  lead.textContent =
    "useChat, assistant-ui and CopilotKit on one agent. Their packages take 500 MB. To install and bundle them, run npm start -- --screens.";
  place.append(lead);
}

createRoot(document.getElementById("app")!).render(<Page />);
