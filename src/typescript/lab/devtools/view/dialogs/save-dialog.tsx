/** @jsxImportSource preact */
/** Saves the run as a `.loop` file, without texts that the user names. */
import { useState } from "preact/hooks";
import type { Lab } from "../../model/lab.js";
import { problemOf, type OpenedRun } from "../../model/opened-run.js";
import { Dialog, download, fileName } from "./dialog.js";
import { Problem } from "../problem.js";

interface SaveDialogProps {
  lab: Lab;
  run: OpenedRun;
  close(): void;
}

export function SaveDialog({ lab, run, close }: SaveDialogProps) {
  const [problem, setProblem] = useState("");
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const told = String(new FormData(event.currentTarget as HTMLFormElement).get("hidden"));
    const hidden = told.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
    try {
      download(fileName(run.facts.name), await lab.fileOf(run, hidden));
      close();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title="Save the run" close={close}>
      <form onSubmit={(event) => void save(event)}>
        <label class="field">
          <span>Hide these texts (one per line)</span>
          <textarea name="hidden" rows={4} placeholder="Ann Lee" />
        </label>
        <p class="quiet">
          The file contains no keys. Each text that you list is replaced by asterisks. Read the file before
          you publish it.
        </p>
        <Problem text={problem} />
        <p class="actions">
          <button type="submit" class="primary">
            Save
          </button>
        </p>
      </form>
    </Dialog>
  );
}
