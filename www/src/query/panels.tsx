/** The side panel: the files, the list of todos and the sessions. */
import type { TodoItem } from "looplet/ui";
import type { Vfs } from "looplet/vfs";
import { useEffect, useState, type ReactNode } from "react";
import { folder, pathsBelow, textOf } from "./project.js";
import type { Session } from "./talk.js";

interface FilesProps {
  vfs: Vfs;
  /** The files that were written or removed, the latest last. */
  changed: readonly string[];
}

/** The files as they are, and the text of the one that is chosen. Files that have changed are marked. */
export function Files({ vfs, changed }: FilesProps) {
  const [chosen, choose] = useState(`${folder}/src/cart.ts`);
  const [paths, setPaths] = useState<readonly string[]>([]);
  const [text, setText] = useState<string>();
  const latest = changed.at(-1);
  useEffect(() => {
    if (latest !== undefined) choose(latest);
  }, [changed, latest]);
  useEffect(() => {
    void pathsBelow(vfs, folder).then(setPaths);
    void textOf(vfs, chosen).then(setText);
  }, [vfs, changed, chosen]);
  return (
    <Part title="Files">
      <ul className="files" aria-label="Files">
        {paths.map((path) => (
          <li key={path}>
            <button type="button" aria-pressed={path === chosen} onClick={() => choose(path)}>
              {path.slice(folder.length + 1)}
              {changed.includes(path) && <span className="badge">changed</span>}
            </button>
          </li>
        ))}
      </ul>
      <pre className="file-text" tabIndex={0} aria-label="Text of the file">
        {text ?? `${chosen} is gone.`}
      </pre>
    </Part>
  );
}

const signs: Record<string, string> = { pending: "○", in_progress: "◐", completed: "●" };

/** The todo list that the model maintains with TodoWrite. */
export function Todos({ todos }: { todos: readonly TodoItem[] }) {
  return (
    <Part title="Todos" isHidden={todos.length === 0}>
      <ul className="todos" aria-label="Todos">
        {todos.map(({ content, activeForm, status }) => (
          <li key={content} data-status={status}>
            {`${signs[status] ?? "○"} ${status === "in_progress" ? activeForm : content}`}
            <span className="hidden">, {status.replace("_", " ")}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

interface SessionsProps {
  sessions: readonly Session[];
  current: string | undefined;
  begin(): void;
  open(id: string): void;
  fork(id: string): void;
}

/** The sessions of this page, the latest first. */
export function Sessions({ sessions, current, begin, open, fork }: SessionsProps) {
  return (
    <Part title="Sessions">
      <button type="button" className="small" onClick={begin}>
        New session
      </button>
      <ul className="sessions" aria-label="Sessions">
        {sessions.map(({ id, title }) => (
          <li key={id}>
            <button type="button" aria-pressed={id === current} onClick={() => open(id)}>
              {title}
            </button>
            <button
              type="button"
              className="small ghost"
              aria-label={`Fork ${title}`}
              onClick={() => fork(id)}
            >
              Fork
            </button>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Part({ title, isHidden, children }: { title: string; isHidden?: boolean; children: ReactNode }) {
  return (
    <section className="part" hidden={isHidden}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
