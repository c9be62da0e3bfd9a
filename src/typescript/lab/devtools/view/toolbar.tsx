/** @jsxImportSource preact */
/** The bar above everything: files, the search, and what can be made of the run. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lab } from "../model/lab.js";
import { counted } from "../../replay/amounts.js";
import { SaveDialog } from "./dialogs/save-dialog.js";
import { TestDialog } from "./dialogs/test-dialog.js";

interface ToolbarProps {
  lab: Lab;
  open(file: File | undefined): void;
}

export function Toolbar({ lab, open }: ToolbarProps) {
  const file = useRef<HTMLInputElement>(null);
  const [shown, show] = useState<"save" | "test">();
  const run = lab.selected;
  return (
    <header class="toolbar">
      <strong class="brand">looplet</strong>
      <button type="button" onClick={() => file.current?.click()}>
        Open a file
      </button>
      <input
        ref={file}
        type="file"
        accept=".loop"
        class="away"
        aria-label="A .loop file"
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          open(currentTarget.files?.[0]);
          currentTarget.value = "";
        }}
      />
      <button type="button" disabled={run === undefined} onClick={() => show("save")}>
        Save…
      </button>
      <button type="button" disabled={run === undefined} onClick={() => show("test")}>
        Create a test…
      </button>
      <SearchBox lab={lab} />
      {run !== undefined && shown === "save" && (
        <SaveDialog lab={lab} run={run} close={() => show(undefined)} />
      )}
      {run !== undefined && shown === "test" && (
        <TestDialog lab={lab} run={run} close={() => show(undefined)} />
      )}
    </header>
  );
}

/** Milliseconds without a key before a search begins. */
const TYPING_MS = 120;

function SearchBox({ lab }: { lab: Lab }) {
  const { search, selected } = lab;
  const [words, setWords] = useState("");
  const key = selected?.facts.key;
  useEffect(() => setWords(""), [key]);
  useEffect(() => {
    const timer = setTimeout(() => lab.look(words.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const count = search?.found.length ?? 0;
  const told = search === undefined ? "" : `${counted(count, "step")}${search.isOver ? "" : " so far"}`;
  return (
    <div class="search" role="search">
      <input
        type="search"
        placeholder="Search the run"
        aria-label="Search the run"
        disabled={selected === undefined}
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") lab.goFound(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="quiet" role="status">
        {told}
      </span>
      <button
        type="button"
        aria-label="Previous match"
        disabled={count === 0}
        onClick={() => lab.goFound(-1)}
      >
        ↑
      </button>
      <button type="button" aria-label="Next match" disabled={count === 0} onClick={() => lab.goFound(1)}>
        ↓
      </button>
    </div>
  );
}
