/** A panel next to the conversation, with a title and a button that closes it. */
import type { ReactNode } from "react";
import { Icon } from "../../chat/icon.js";

interface PanelProps {
  id: string;
  label: string;
  title: string;
  isOpen: boolean;
  /** Shown next to the title. */
  count: ReactNode;
  /** Contract: gives the text that the button "Copy" copies. */
  copy(): string;
  closeLabel: string;
  close(): void;
  children: ReactNode;
}

export function Panel(props: PanelProps) {
  const { id, label, title, isOpen, count, copy, closeLabel, close, children } = props;
  return (
    <aside className="panel" id={id} aria-label={label} hidden={!isOpen}>
      <header>
        <h2>{title}</h2>
        {count}
        <button
          type="button"
          className="ghost small"
          onClick={() => void navigator.clipboard.writeText(copy())}
        >
          Copy
        </button>
        <button type="button" className="ghost small" aria-label={closeLabel} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </aside>
  );
}
