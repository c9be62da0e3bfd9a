/** The tab where `query` of looplet/agent-sdk works on files that one sees. */
import { todosOf } from "looplet/ui";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { review } from "../chat/approval.js";
import { Composer, focusPrompt } from "../chat/composer.js";
import { Header, Tool } from "../chat/header.js";
import { ModeSwitch } from "../chat/mode-switch.js";
import { Notice, Refusal } from "../chat/notice.js";
import { Bubble, Parts } from "../chat/parts.js";
import { useScroll } from "../chat/scroll.js";
import { Settings } from "../chat/settings.js";
import { useStore } from "../chat/store.js";
import { Welcome } from "../chat/welcome.js";
import { cost, counted } from "../words/amount.js";
import { nameOf } from "../words/connection.js";
import { Files, Sessions, Todos } from "./panels.js";
import { project } from "./project.js";
import { suggestions } from "./stand-in.js";
import { Talk } from "./talk.js";
import type { Turn } from "./turn.js";

const vfs = project((path) => talk.changed(path));
const talk = new Talk(vfs);
void talk.begin();
createRoot(document.getElementById("app")!).render(<Page />);

const lead =
  "query() of looplet/agent-sdk with its built-in tools, in this tab: the workspace is in memory, and each change waits for your approval.";

function Page() {
  const state = useStore(talk);
  const { turns, connection, mode, isRunning, sessions, current, changed } = state;
  const [text, write] = useState("");
  const [isChoosing, choose] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { scroller, button } = useScroll(turns.length);
  const messages = turns.flatMap(({ messages }) => messages);
  const open = messages
    .flatMap(({ parts }) => parts)
    .filter((part) => part.type === "tool" && part.question).length;
  useEffect(focusPrompt, [turns.length === 0]);
  useEffect(() => {
    if (open > 0) review();
  }, [open]);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) talk.stop();
    };
    document.addEventListener("keydown", escape);
    return () => document.removeEventListener("keydown", escape);
  }, []);
  const ask = (prompt: string) => void talk.ask(prompt);
  const name = connection.kind === "practice" ? "Stand-in" : nameOf(connection);
  return (
    <>
      <Header tab="Query" connection={{ kind: connection.kind, name, open: () => choose(true) }}>
        <Tool
          icon="file"
          name="Workspace"
          id="toggle-workspace"
          panel={{ id: "workspace", isOpen }}
          click={() => setOpen(!isOpen)}
        />
      </Header>
      <div className="columns">
        <main className="chat">
          <div className="scroller" id="scroller" ref={scroller}>
            <Welcome
              title="Watch an agent work on files"
              prompts={suggestions}
              isHidden={turns.length > 0}
              {...{ lead, ask }}
            />
            <div
              className="transcript"
              id="transcript"
              role="log"
              aria-live="polite"
              aria-label="Conversation"
            >
              {turns.map((turn, at) => (
                <TurnView key={at} turn={turn} />
              ))}
            </div>
          </div>
          <div className="dock" id="dock">
            {button}
            <div className="mode-row">
              <ModeSwitch mode={mode} change={(mode) => talk.setMode(mode)} />
            </div>
            <Composer
              {...{ text, write, isRunning, ask }}
              tell={(_, said) => void talk.tell(said)}
              stop={() => talk.stop()}
            />
          </div>
        </main>
        <aside className={`workspace ${isOpen ? "open" : ""}`} id="workspace" aria-label="Workspace">
          <Files {...{ vfs, changed }} />
          <Todos todos={todosOf(messages)} />
          <Sessions
            {...{ sessions, current }}
            begin={() => void talk.begin()}
            open={(id) => void talk.open(id)}
            fork={(id) => void talk.fork(id)}
          />
        </aside>
      </div>
      <Settings
        isOpen={isChoosing}
        connection={connection}
        practice="A simulated model that knows two tasks. It needs no key and no network."
        close={() => choose(false)}
        apply={(connection) => talk.connect(connection)}
      />
    </>
  );
}

function TurnView({ turn: { messages, result, thrown } }: { turn: Turn }) {
  return (
    <>
      {messages.map(({ role, parts }, at) =>
        role === "user" ? (
          parts.map(
            (part, index) => part.type === "text" && <Bubble key={`${at}.${index}`} text={part.text} />,
          )
        ) : (
          <section key={at} className="answer" aria-label="Agent">
            {/* The todos stand beside the conversation. */}
            <Parts
              parts={parts.filter((part) => part.type !== "tool" || part.toolName !== "TodoWrite")}
              actions={talk}
            />
          </section>
        ),
      )}
      {result && (
        <section className="answer" aria-label="Result">
          {result.subtype !== "success" && (
            <Notice kind="error" text={result.subtype}>
              <p>{result.errors.join("\n")}</p>
            </Notice>
          )}
          <p className="summary quiet">
            {[result.subtype, counted(result.num_turns, "turn"), cost(result.total_cost_usd)].join(" · ")}
          </p>
        </section>
      )}
      {thrown !== undefined && <Refusal thrown={thrown} />}
    </>
  );
}
