/** @jsxImportSource preact */
/** The whole of devtools: the runs, and one or two of them with their steps. */
import { useState } from "preact/hooks";
import type { Lab } from "../model/lab.js";
import { Pane } from "./pane.js";
import { Runs } from "./runs.js";
import { SideBySide } from "./side-by-side.js";
import { Toolbar } from "./toolbar.js";
import { Problem } from "./problem.js";

/** A `.loop` file above this size is no run of a page. */
const MAX_BYTES = 256 << 20;

export function App({ lab }: { lab: Lab }) {
  const [isOver, setOver] = useState(false);
  const { selected, beside, problem, opening } = lab;
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MAX_BYTES) return lab.open(file.name, "");
    await lab.open(file.name, await file.text());
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void open(event.dataTransfer?.files[0]);
  };
  return (
    <div
      class={isOver ? "app is-over" : "app"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Toolbar lab={lab} open={(file) => void open(file)} />
      {opening !== undefined && (
        <p class="opening quiet" role="status">
          {opening} is being played …
        </p>
      )}
      <Problem text={problem} />
      <div class="content">
        <Runs lab={lab} />
        <main>
          {selected === undefined ? (
            <Empty isAttached={lab.sources.size > 0} />
          ) : (
            <>
              {beside !== undefined && <SideBySide lab={lab} one={selected} other={beside} />}
              <div class="panes">
                <Pane key={selected.facts.key} lab={lab} run={selected} />
                {beside !== undefined && <Pane key={beside.facts.key} lab={lab} run={beside} isBeside />}
              </div>
            </>
          )}
        </main>
      </div>
    </div>
  );
}

function Empty({ isAttached }: { isAttached: boolean }) {
  return (
    <div class="empty">
      <p>
        <strong>{isAttached ? "No run has started yet." : "No run is open."}</strong>
      </p>
      <p class="quiet">
        Open a .loop file, or drop one here. The runs of a published agent appear automatically.
      </p>
    </div>
  );
}
