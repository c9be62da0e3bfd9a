/**
 * The dialog of run files: saves the latest run as a `.loop` file, opens one that is chosen or dropped on the page,
 * and shows it step by step.
 */
import { replay, type Replay } from "looplet/replay";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../../chat/icon.js";
import { explainThrown } from "../../words/failure.js";
import type { Session, Setup } from "../session.js";
import type { Fork } from "./fork-form.js";
import { RunPlayer } from "./run-player.js";

/** A `.loop` file. */
interface NamedFile {
  name: string;
  text: string;
}

interface RunFileProps {
  session: Session;
  setup: Setup;
  isOpen: boolean;
  open(): void;
  close(): void;
}

/** A file above this size is no run of a page. */
const maxBytes = 64 << 20;

export function RunFile({ session, setup, isOpen, open, close }: RunFileProps) {
  const [opened, setOpened] = useState<NamedFile & { replay: Replay }>();
  const [problem, setProblem] = useState<{ name: string; details: string }>();
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!isOpen) return dialog.current?.close();
    setOpened(undefined);
    setProblem(undefined);
    dialog.current?.showModal();
  }, [isOpen]);
  const show = async (file: NamedFile) => {
    try {
      setOpened({ ...file, replay: await replay(file.text) });
      setProblem(undefined);
    } catch (error) {
      setProblem({ name: file.name, details: explainThrown(error).details });
    }
  };
  const read = async (file: File) => {
    open();
    if (file.size > maxBytes)
      return setProblem({ name: file.name, details: "The file is too large for a page." });
    await show({ name: file.name, text: await file.text() });
  };
  useDrops((file) => void read(file));
  const fork = ({ step, told, ...chosen }: Fork) => {
    const { name, replay } = opened!;
    const { journal, messages } = replay.at(step);
    const asked = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
    const [prompt = name] = asked.flatMap((block) => (block.type === "text" ? [block.text] : []));
    session.fork(prompt, journal, `Forked here, at step ${step + 1} of ${name}.`, chosen, told);
    close();
  };
  return (
    <dialog aria-labelledby="run-file-title" className="settings run-file" ref={dialog} onClose={close}>
      <header>
        <h2 id="run-file-title">{opened && !problem ? opened.name : "Run file"}</h2>
        <button type="button" className="ghost" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div className="form-error" role="alert">
        {problem && (
          <>
            <p>{problem.name} cannot be opened.</p>
            <p className="quiet">{problem.details}</p>
          </>
        )}
      </div>
      <div className="run-file-content">
        {opened ? (
          <RunPlayer
            key={opened.text}
            opened={opened}
            save={() => save(opened)}
            {...{ setup, fork }}
            tools={session.tools}
          />
        ) : (
          isOpen && <Start latest={session.export()} show={show} choose={() => input.current?.click()} />
        )}
      </div>
      <input
        type="file"
        className="hidden"
        accept=".loop"
        aria-label="A .loop file"
        tabIndex={-1}
        ref={input}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void read(file);
          target.value = "";
        }}
      />
    </dialog>
  );
}

interface StartProps {
  /** The latest run; `undefined` when there was none since the page was opened. */
  latest: NamedFile | undefined;
  show(file: NamedFile): void;
  choose(): void;
}

function Start({ latest, show, choose }: StartProps) {
  return (
    <>
      <p className="quiet">
        A run is data: its prompt, the answers and the results with their times, without any key. Step through
        it, send it as a bug report, or go on from any of its moments.
      </p>
      <div className="run-file-actions">
        <button type="button" className="primary" disabled={!latest} onClick={() => latest && show(latest)}>
          Step through the latest run
        </button>
        <button type="button" disabled={!latest} onClick={() => latest && save(latest)}>
          Save it as a file
        </button>
        <button type="button" onClick={choose}>
          Open a .loop file
        </button>
      </div>
      <p className="quiet drop-hint">
        {latest ? "" : "No run has begun since the page was opened. "}
        You can also drop a .loop file anywhere on the page.
      </p>
    </>
  );
}

/** Takes files that are dropped on the page. */
function useDrops(take: (file: File) => void): void {
  useEffect(() => {
    const isFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const mark = (isOver: boolean) => document.body.classList.toggle("dropping", isOver);
    const listeners = {
      dragover(event: DragEvent) {
        if (!isFile(event)) return;
        event.preventDefault();
        mark(true);
      },
      dragleave: (event: DragEvent) => event.relatedTarget === null && mark(false),
      drop(event: DragEvent) {
        mark(false);
        const [file] = event.dataTransfer?.files ?? [];
        if (!file) return;
        event.preventDefault();
        take(file);
      },
    } as Record<string, (event: any) => void>;
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener);
    };
  });
}

/** Gives the file to the browser's downloads. */
function save({ name, text }: NamedFile): void {
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The download has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
