/** Lines in the transcript that neither the user nor the model wrote. */
import type { ReactNode } from "react";
import { explainThrown } from "../words/failure.js";
import { Icon, type IconName } from "./icon.js";

interface NoticeProps {
  kind: "info" | "warning" | "error";
  text: string;
  children?: ReactNode;
}

export function Notice({ kind, text, children }: NoticeProps) {
  return (
    <div className={`notice ${kind}`} role={kind === "error" ? "alert" : undefined}>
      <Icon name={kind === "info" ? "stop" : "alert"} />
      <div>
        <p>{text}</p>
        {children}
      </div>
    </div>
  );
}

/** The text for an error that was thrown synchronously. */
export function Refusal({ thrown }: { thrown: unknown }) {
  const { title, advice, details } = explainThrown(thrown);
  return (
    <Notice kind="error" text={title}>
      <p className="quiet">{advice}</p>
      <pre tabIndex={0}>{details}</pre>
    </Notice>
  );
}

/** Buttons below a notice. */
export function Actions({ of }: { of: readonly (readonly [label: string, click: () => void])[] }) {
  return (
    <p className="actions">
      {of.map(([label, click]) => (
        <button key={label} type="button" className="small" onClick={click}>
          {label}
        </button>
      ))}
    </p>
  );
}

/** A line across the conversation: from here on something is otherwise than before. */
export function Divider({
  icon,
  text,
  summary,
}: {
  icon: IconName;
  text: string;
  summary?: string | undefined;
}) {
  return (
    <div className="divider">
      <p>
        <Icon name={icon} />
        {text}
      </p>
      {summary !== undefined && (
        <details>
          <summary>The summary</summary>
          <p className="quiet">{summary}</p>
        </details>
      )}
    </div>
  );
}
