/** @jsxImportSource preact */
/** A modal dialog, and what its contents share. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  close(): void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={close}>
      <header>
        <h2>{title}</h2>
        <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Gives a text to the browser's downloads. */
export function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The download has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** The name of the run's file. */
export function fileName(name: string): string {
  const plain = name.replace(/\.loop$/, "").replace(/[^\w.-]+/g, "-");
  return `${plain === "" ? "run" : plain}.loop`;
}
