/** @jsxImportSource preact */
/** Makes a test of the run: its file, and the code that plays it. */
import { useState } from "preact/hooks";
import { testFile, type TestRunner } from "../../../replay/test-file.js";
import type { Lab } from "../../model/lab.js";
import { problemOf, type OpenedRun } from "../../model/opened-run.js";
import { Dialog, download, fileName } from "./dialog.js";

interface TestDialogProps {
  lab: Lab;
  run: OpenedRun;
  close(): void;
}

export function TestDialog({ lab, run, close }: TestDialogProps) {
  const [runner, setRunner] = useState<TestRunner>("vitest");
  const [told, tell] = useState("");
  const name = fileName(run.facts.name);
  const code = testFile(name, runner);
  const save = async (): Promise<void> => {
    try {
      download(name, await lab.fileOf(run, []));
      download(name.replace(/\.loop$/, ".test.ts"), code);
      tell("Saved. Put both files in the same folder.");
    } catch (error) {
      tell(problemOf(error));
    }
  };
  return (
    <Dialog title="Create a test from the run" close={close}>
      <label class="field">
        <span>Runner</span>
        <select value={runner} onChange={({ currentTarget }) => setRunner(currentTarget.value as TestRunner)}>
          <option value="vitest">Vitest</option>
          <option value="node">node:test</option>
        </select>
      </label>
      <pre tabIndex={0}>{code}</pre>
      <p class="actions">
        <button type="button" class="primary" onClick={() => void save()}>
          Save the test and the run
        </button>
        <button
          type="button"
          onClick={() =>
            void navigator.clipboard.writeText(code).then(
              () => tell("Copied."),
              (e) => tell(problemOf(e)),
            )
          }
        >
          Copy
        </button>
        <span class="quiet" role="status">
          {told}
        </span>
      </p>
    </Dialog>
  );
}
