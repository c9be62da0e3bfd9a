/** The tab of the agent: wires its parts to one session. Imports looplet as any application does: by its name. */
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Composer, focusPrompt } from "../chat/composer.js";
import { Header, Tool } from "../chat/header.js";
import { Icon } from "../chat/icon.js";
import { Actions, Notice, Refusal } from "../chat/notice.js";
import { Bubble } from "../chat/parts.js";
import { useScroll } from "../chat/scroll.js";
import { Settings } from "../chat/settings.js";
import { useStore } from "../chat/store.js";
import { Welcome } from "../chat/welcome.js";
import { nameOf } from "../words/connection.js";
import { Controls } from "./controls.js";
import { Devtools } from "./panels/devtools.js";
import { EventLog } from "./panels/event-log.js";
import { RunView, type RunActions } from "./run-view.js";
import { Session, type State } from "./session.js";
import { textOf } from "./shown-run.js";
import { suggestions } from "./suggestions.js";

const session = new Session();
session.recall();
createRoot(document.getElementById("app")!).render(<Page />);

const lead =
  "The loop, the stream and the tools run in WebAssembly and JavaScript on your machine. A practice provider answers, so you need no key; choose another connection at the top.";

type Panel = "log" | "devtools";

function Page() {
  const state = useStore(session);
  const { setup, runs, queue, notes, isRunning, cutOff, text } = state;
  // There is room for one of the two.
  const [panel, setPanel] = useState<Panel>();
  const [dialog, setDialog] = useState<"settings">();
  const { scroller, button } = useScroll(runs.length);
  const isBegun = runs.length + notes.length > 0 || cutOff !== undefined;
  useEffect(focusPrompt, []);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
      if (isRunning) session.stop();
      else close();
    };
    document.addEventListener("keydown", escape);
    return () => document.removeEventListener("keydown", escape);
  });
  const close = () => {
    // When the panel closes, the focus returns to the button.
    if (document.activeElement?.closest(".panel")) document.getElementById(`toggle-${panel}`)?.focus();
    setPanel(undefined);
  };
  const toggle = (which: Panel) => (panel === which ? close() : setPanel(which));
  const newChat = () => {
    session.clear();
    focusPrompt();
  };
  const ask = (prompt: string) => {
    session.ask(prompt);
    focusPrompt();
  };
  const [actions] = useState<RunActions>(() => ({
    act(action) {
      if (action === "connection") setDialog("settings");
      else if (action === "new-chat") newChat();
      else session.retry();
    },
    continueRun(budget, amount) {
      const { isRunning, setup } = session.getState();
      if (isRunning) return;
      session.change({ limits: { ...setup.limits, [budget]: amount } });
      ask("Go on.");
    },
    carryOut() {
      if (session.getState().isRunning) return;
      session.change({ mode: "default" });
      ask("Go ahead.");
    },
  }));
  const connection = {
    kind: setup.connection.kind,
    name: nameOf(setup.connection),
    open: () => setDialog("settings"),
  };
  return (
    <>
      <Header tab="Agent" connection={connection}>
        <Tool icon="plus" name="New chat" id="new-chat" click={newChat} />
        <Tool
          icon="waterfall"
          name="Devtools"
          id="toggle-devtools"
          panel={{ id: "devtools", isOpen: panel === "devtools" }}
          click={() => toggle("devtools")}
        />
        <Tool
          icon="list"
          name="Events"
          id="toggle-log"
          panel={{ id: "event-log", isOpen: panel === "log" }}
          click={() => toggle("log")}
        />
      </Header>
      <div className="columns">
        <main className="chat">
          <div className="scroller" id="scroller" ref={scroller}>
            <Welcome
              title="Watch an agent run in this tab"
              prompts={suggestions}
              isHidden={isBegun}
              {...{ lead, ask }}
            />
            <div
              className="transcript"
              id="transcript"
              role="log"
              aria-live="polite"
              aria-label="Conversation"
            >
              <Notes {...{ notes, after: 0 }} />
              {runs.map((run, at) => [
                <RunView key={run.id} number={at + 1} {...{ run, session, actions }} />,
                <Notes key={`notes-${run.id}`} {...{ notes, after: at + 1 }} />,
              ])}
              {cutOff && (
                <CutOff {...cutOff} open={() => setDialog("settings")} model={cutOff.open.connection.model} />
              )}
            </div>
          </div>
          <div className="dock" id="dock">
            {button}
            <Queue waiting={queue} />
            <Controls {...{ session, state }} />
            <Composer
              {...{ text, isRunning }}
              isPlanning={setup.mode === "plan"}
              write={session.write}
              ask={(said) => session.ask(said)}
              tell={(kind, said) => session.tell(kind, said)}
              stop={() => session.stop()}
            />
          </div>
        </main>
        <EventLog runs={runs} isOpen={panel === "log"} close={close} />
        <Devtools
          {...{ session, close }}
          ended={runs.filter(({ result }) => result).length}
          isOpen={panel === "devtools"}
          open={() => setPanel("devtools")}
        />
      </div>
      <Settings
        isOpen={dialog === "settings"}
        connection={setup.connection}
        limits={setup.limits}
        close={() => setDialog(undefined)}
        apply={(connection, limits) => {
          session.change({ connection, limits });
          session.continueRun();
        }}
      />
    </>
  );
}

function Notes({ notes, after }: { notes: State["notes"]; after: number }) {
  return notes
    .filter((note) => note.after === after)
    .map(({ thrown }, at) =>
      thrown === undefined ? (
        <Notice
          key={at}
          kind="info"
          text="Nothing was compacted. The history has no messages that can be summarised yet."
        />
      ) : (
        <Refusal key={at} thrown={thrown} />
      ),
    );
}

interface CutOffProps {
  run: { prompt: string };
  model: string;
  open(): void;
}

/** A run of before a reload, which waits for its key. */
function CutOff({ run, model, open }: CutOffProps) {
  return (
    <div className="cut-off-run">
      <Bubble text={run.prompt} />
      <Notice
        kind="warning"
        text="The run was interrupted by the reload, and the page no longer has its key."
      >
        <p className="quiet">
          Choose the connection to {model} again to continue the run. If you ask something else, the run is
          dropped.
        </p>
        <Actions of={[["Open the connection", open]]} />
      </Notice>
    </div>
  );
}

/** Messages on their way into the run, until they are delivered or taken back. */
function Queue({ waiting }: { waiting: State["queue"] }) {
  return (
    <ul className="queue" aria-label="Waiting to be delivered" hidden={waiting.length === 0}>
      {waiting.map((message) => (
        <li key={message.id}>
          <span className="badge">{message.isFollowUp ? "follow-up" : "steer"}</span>
          <span className="text">{textOf(message)}</span>
          <button
            type="button"
            className="ghost small"
            aria-label={`Take back: ${textOf(message)}`}
            title="Take back"
            onClick={() => session.takeBack(message.id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
