/** Every event of the conversation's runs, as looplet delivers it: filterable, each opens to its JSON. */
import type { RunEvent } from "looplet";
import { memo, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Happened, ShownRun } from "../shown-run.js";
import { Panel } from "./panel.js";

const groups: Record<string, RegExp> = {
  run: /^(?:run|agent|iteration|attempt|finish|abort|error|snapshot|steer)/,
  text: /^(?:text|reasoning)/,
  tools: /^(?:tool|question|answered)/,
  trouble: /^(?:retry|reset|warning|error|abort)/,
  usage: /^usage/,
};

/** Older rows are forgotten: a long run must not fill the page. */
const maxRows = 2000;

interface EventLogProps {
  runs: readonly ShownRun[];
  isOpen: boolean;
  close(): void;
}

export function EventLog({ runs, isOpen, close }: EventLogProps) {
  const [words, setWords] = useState("");
  const [group, setGroup] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (!isOpen) return;
    isAtEnd.current = true;
    list.current!.scrollTop = list.current!.scrollHeight;
    search.current?.focus();
  }, [isOpen]);
  useLayoutEffect(() => {
    if (isAtEnd.current && isOpen) list.current!.scrollTop = list.current!.scrollHeight;
  });
  const all = runs.flatMap(({ happened }) =>
    happened.map((one) => ({ one, startedMs: happened[0]!.timeMs })),
  );
  const wanted = words.trim().toLowerCase();
  const isWanted = ({ event }: Happened) =>
    (groups[group]?.test(event.type) ?? true) &&
    (wanted === "" || `${gist(event)} ${JSON.stringify(event)}`.toLowerCase().includes(wanted));
  const shown = all.slice(-maxRows).filter(({ one }) => isWanted(one));
  return (
    <Panel
      id="event-log"
      label="Event log"
      title="Events"
      isOpen={isOpen}
      count={
        <span className="quiet count">
          {shown.length === all.length ? all.length : `${shown.length} of ${all.length}`}
        </span>
      }
      copy={() => shown.map(({ one }) => JSON.stringify(one.event)).join("\n")}
      closeLabel="Close the event log"
      close={close}
    >
      <div className="filters">
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter events"
          ref={search}
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        <select aria-label="Kind of events" value={group} onChange={({ target }) => setGroup(target.value)}>
          <option value="">all events</option>
          {Object.keys(groups).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <ol
        className="rows"
        tabIndex={0}
        aria-label="Events"
        ref={list}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          (isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40)
        }
      >
        {shown.map(({ one, startedMs }, at) => (
          <Row key={at} one={one} startedMs={startedMs} />
        ))}
      </ol>
    </Panel>
  );
}

const Row = memo(function Row({ one: { event, timeMs }, startedMs }: { one: Happened; startedMs: number }) {
  return (
    <li data-type={event.type}>
      <details>
        <summary>
          <span className="seq">{event.seq}</span>
          <span className="type">{event.type}</span>
          <span className="gist">{gist(event)}</span>
          <span className="at">{((timeMs - startedMs) / 1000).toFixed(2)} s</span>
        </summary>
        <pre tabIndex={0}>{JSON.stringify(event, null, 2)}</pre>
      </details>
    </li>
  );
});

function gist(event: RunEvent): string {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return event.text;
    case "tool-input-start":
    case "tool-call":
    case "tool-progress":
    case "tool-result":
      return event.toolName;
    case "tool-error":
      return `${event.toolName}: ${event.error.code}`;
    case "usage":
      return `${event.total.inputTokens} in, ${event.total.outputTokens} out`;
    case "iteration-finish":
      return event.finishReason ?? "";
    case "retry":
    case "error":
      return event.error.code;
    case "warning":
      return event.code;
    case "finish":
      return event.outcome.outcome;
    case "run-start":
      return event.model;
    default:
      // A new event does not compile until it is above, or in this list of events with types that say enough.
      event.type satisfies
        | "agent-start"
        | "iteration-start"
        | "attempt-start"
        | "text-start"
        | "text-end"
        | "reasoning-start"
        | "reasoning-progress"
        | "reasoning-end"
        | "tool-input-end"
        | "question"
        | "answered"
        | "waiting"
        | "reset"
        | "answer-cut-off"
        | "steer-delivered"
        | "message"
        | "handoff"
        | "model-change"
        | "not-saved"
        | "limits"
        | "compact-start"
        | "compact-boundary"
        | "agent-finish"
        | "abort"
        | "snapshot";
      return "";
  }
}
