/** @jsxImportSource preact */
/** Where two runs part: the first message that differs. */
import { useMemo } from "preact/hooks";
import type { Message } from "../../../core/api/index.js";
import { textDiff } from "../../compare/text-diff.js";
import type { Lab } from "../model/lab.js";
import type { OpenedRun } from "../model/opened-run.js";
import { Diff } from "./diff.js";
import { counted } from "../../replay/amounts.js";

interface SideBySideProps {
  lab: Lab;
  one: OpenedRun;
  other: OpenedRun;
}

export function SideBySide({ lab, one, other }: SideBySideProps) {
  // A fork is the newer one, whichever of the two is looked at.
  const [old, fresh] = one.facts.from?.run === other.facts.id ? [other, one] : [one, other];
  const parted = useMemo(() => partedAt(old, fresh), [old, fresh, old.steps.length, fresh.steps.length]);
  return (
    <section class="parted" aria-label="Side by side">
      <p>
        <strong>{parted.told}</strong>{" "}
        <button type="button" onClick={() => lab.place(undefined)}>
          One run again
        </button>
      </p>
      {parted.diff !== "" && <Diff text={parted.diff} />}
    </section>
  );
}

function partedAt(before: OpenedRun, after: OpenedRun): { told: string; diff: string } {
  const [old, fresh] = [messagesOf(before), messagesOf(after)];
  const count = Math.max(old.length, fresh.length);
  for (let at = 0; at < count; at++) {
    const [left, right] = [written(old[at]), written(fresh[at])];
    if (left === right) continue;
    const told = `${counted(at, "message")} equal. Message ${at + 1} differs.`;
    return { told, diff: textDiff(left, right) };
  }
  return { told: `All ${counted(count, "message")} are equal.`, diff: "" };
}

function messagesOf(run: OpenedRun): readonly Message[] {
  const moment = run.moment(run.steps.length - 1);
  return typeof moment === "string" ? [] : moment.messages;
}

function written(message: Message | undefined): string {
  return message === undefined ? "" : JSON.stringify(message, null, 2);
}
