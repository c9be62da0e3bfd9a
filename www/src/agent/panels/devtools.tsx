/**
 * The panel with looplet's own devtools: the runs of this page while they are in progress, files, and forks into the
 * chat.
 */
import type { DevtoolsHost, LoopletDevtools } from "looplet/devtools";
import { useEffect, useRef } from "react";
import { system as ownSystem } from "../../../../examples/tools/index.mjs";
import { Icon } from "../../chat/icon.js";
import { choicesOf, modelNameOf } from "../../words/connection.js";
import type { Session } from "../session.js";
import { AllRuns } from "./all-runs.js";

interface DevtoolsProps {
  session: Session;
  /** Runs that have ended. */
  ended: number;
  isOpen: boolean;
  open(): void;
  close(): void;
}

export function Devtools({ session, ended, isOpen, open, close }: DevtoolsProps) {
  const place = useRef<HTMLDivElement>(null);
  const element = useRef<Promise<LoopletDevtools>>(undefined);
  /** They are loaded when they are first opened, and stay. */
  const devtools = () => (element.current ??= shown(place.current!, session, close));
  useEffect(() => {
    if (isOpen) void devtools();
  }, [isOpen]);
  useDrops(async (file) => {
    open();
    await (await devtools()).open(file.name, await file.text());
  });
  return (
    <aside className="panel devtools" id="devtools" aria-label="Devtools" hidden={!isOpen}>
      <header>
        <h2>Devtools</h2>
        <button type="button" className="ghost small" aria-label="Close the devtools" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div className="devtools-place" ref={place} />
      <AllRuns runs={ended} />
    </aside>
  );
}

async function shown(place: HTMLElement, session: Session, close: () => void): Promise<LoopletDevtools> {
  await import("looplet/devtools");
  const devtools = document.createElement("looplet-devtools") as LoopletDevtools;
  devtools.host = hostOf(session, close);
  devtools.attach(session.devtools);
  place.append(devtools);
  return devtools;
}

/** A fork takes the place of the chat, with one of the page's models. */
function hostOf(session: Session, close: () => void): DevtoolsHost {
  return {
    get agents() {
      const { setup } = session.getState();
      return choicesOf(setup.connection).map((connection) => ({
        name: modelNameOf(connection),
        model: modelNameOf(connection),
        system: setup.system ?? ownSystem,
        tools: Object.keys(session.tools),
      }));
    },
    async fork({ name, step, prompt, journal, agent, changes }) {
      const { setup } = session.getState();
      const wanted = changes.model ?? agent;
      const connection = choicesOf(setup.connection).find((choice) => modelNameOf(choice) === wanted);
      if (connection === undefined) throw new Error(`The connection has no model ${wanted}.`);
      if (changes.options !== undefined)
        throw new Error("The page sets the other options: its controls have the limits and the permissions.");
      const { system = setup.system ?? ownSystem, without = [], told = "" } = changes;
      const origin = `Forked here, at step ${step + 1} of ${name}.`;
      await session.fork(prompt || name, journal, origin, { connection, system, without }, told);
      close();
    },
  };
}

/** Takes files that are dropped anywhere on the page. */
function useDrops(take: (file: File) => Promise<void>): void {
  useEffect(() => {
    const mark = (isOver: boolean) => document.body.classList.toggle("dropping", isOver);
    const listeners = {
      dragover(event: DragEvent) {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        mark(true);
      },
      dragleave(event: DragEvent) {
        if (event.relatedTarget === null) mark(false);
      },
      drop(event: DragEvent) {
        mark(false);
        const file = event.dataTransfer?.files[0];
        // The devtools take what is dropped on them.
        if (!file || event.defaultPrevented) return;
        event.preventDefault();
        void take(file);
      },
    };
    const pairs = Object.entries(listeners) as [string, EventListener][];
    for (const [name, listener] of pairs) addEventListener(name, listener);
    return () => {
      for (const [name, listener] of pairs) removeEventListener(name, listener);
    };
  });
}
