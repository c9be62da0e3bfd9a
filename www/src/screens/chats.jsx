/** The three front ends side by side, on one chat. `npm start -- --screens` bundles this with their packages. */
import { anthropic, createAgent } from "looplet";
import { practice } from "looplet/practice";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { demoTools, system } from "../../../examples/tools/index.mjs";
import { CopilotKit } from "./copilot-kit.jsx";
import { Hub } from "./hub.js";
import { AssistantUi, UseChat } from "./use-chat.jsx";

const screens = [
  ["useChat", UseChat],
  ["assistant-ui", AssistantUi],
  ["CopilotKit", CopilotKit],
];

/** Nobody is asked for an approval here. */
const { calculator, time, slow_lookup } = demoTools({
  storage: localStorage,
  readDocument: async (name, signal) => (await fetch(`/docs/${name}`, { signal })).text(),
});

const agent = createAgent({
  model: anthropic("practice-1", { fetch: practice({ delayMs: 40 }) }),
  system,
  tools: { calculator, time, slow_lookup },
});
const hub = new Hub(agent.chat());

export function show(place) {
  createRoot(place).render(
    <>
      <p className="lead">
        One agent of looplet in this page, with one chat. A message to one of them shows in all. Whoever is
        killed in the middle of an answer has the rest when it comes back.
      </p>
      <button type="button" className="stop" onClick={() => hub.stop()}>
        Stop the run
      </button>
      <div className="screens">
        {screens.map(([name, Chat]) => (
          <Screen key={name} name={name} Chat={Chat} />
        ))}
      </div>
    </>,
  );
}

function Screen({ name, Chat }) {
  const [isAlive, setAlive] = useState(true);
  return (
    <section className="screen" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <button type="button" className="small" onClick={() => setAlive(!isAlive)}>
          {isAlive ? `Kill ${name}` : `Resume ${name}`}
        </button>
      </header>
      <div className="screen-body">
        {isAlive ? <Chat hub={hub} /> : <p className="quiet">It is gone. The run goes on.</p>}
      </div>
    </section>
  );
}
