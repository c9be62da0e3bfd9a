/** The user's input field: it sends a prompt, steers or queues a follow-up during a run, and stops it. */
import { useEffect, useRef, useState, type FormEvent } from "react";
import { Icon } from "./icon.js";

export type QueuedKind = "steer" | "follow-up";

interface ComposerProps {
  text: string;
  write(text: string): void;
  isRunning: boolean;
  /** Plan mode: the field shows it. */
  isPlanning?: boolean;
  ask(text: string): void;
  tell(kind: QueuedKind, text: string): void;
  stop(): void;
}

const maxRows = 8;

const kinds = [
  ["steer", "Steer", "Delivered before the next model call"],
  ["follow-up", "Follow up", "Sent when the model has finished"],
] as const;

export function Composer({ text, write, isRunning, isPlanning = false, ask, tell, stop }: ComposerProps) {
  const [kind, setKind] = useState<QueuedKind>("steer");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // The focus was on a button that was removed, or nowhere.
    if (!isRunning && document.activeElement === document.body) field.current?.focus();
  }, [isRunning]);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const said = text.trim();
    if (said === "") return;
    write("");
    if (isRunning) tell(kind, said);
    else ask(said);
  };
  const isSteer = kind === "steer";
  const waiting = isSteer ? "Send a message while it works" : "Send when it has finished";
  const resting = isPlanning ? "Ask for a plan: nothing is changed" : "Ask something";
  return (
    <form
      className={`composer ${isRunning ? "running" : ""} ${isPlanning ? "planning" : ""}`}
      onSubmit={submit}
    >
      <textarea
        ref={field}
        id="prompt"
        rows={Math.min(maxRows, Math.max(1, text.split("\n").length))}
        aria-label="Message"
        aria-describedby="keys"
        enterKeyHint="send"
        placeholder={isRunning ? waiting : resting}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={(event) => {
          // While an input method composes a word, Enter belongs to it.
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      <div className="row">
        <fieldset className="modes" hidden={!isRunning}>
          <legend className="hidden">When your message is delivered during a run</legend>
          {kinds.flatMap(([value, label, title]) => [
            <input
              key={value}
              type="radio"
              name="mode"
              id={`mode-${value}`}
              className="hidden"
              checked={kind === value}
              onChange={() => setKind(value)}
            />,
            <label key={label} htmlFor={`mode-${value}`} title={title}>
              {label}
            </label>,
          ])}
        </fieldset>
        <p id="keys" className="quiet keys">
          <span>
            <kbd>Enter</kbd> sends
          </span>
          <span>
            <kbd>Shift Enter</kbd> new line
          </span>
          <span>
            <kbd>Esc</kbd> stops
          </span>
        </p>
        <button type="button" className="stop" hidden={!isRunning} onClick={stop}>
          <Icon name="stop" />
          Stop
        </button>
        <button type="submit" className="primary">
          <Icon name="send" />
          {!isRunning ? "Send" : isSteer ? "Steer" : "Queue"}
        </button>
      </div>
    </form>
  );
}

/** Puts the keyboard on the field. */
export function focusPrompt(): void {
  document.getElementById("prompt")?.focus();
}
