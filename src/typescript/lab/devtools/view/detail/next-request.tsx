/** @jsxImportSource preact */
/** The request that comes next, and how it differs from the one before. */
import { useEffect, useState } from "preact/hooks";
import { textDiff } from "../../../compare/text-diff.js";
import type { OpenedRun } from "../../model/opened-run.js";
import type { StepProps } from "./detail.js";
import { Diff } from "../diff.js";

export function NextRequest({ lab, run, step }: StepProps) {
  const [isWhole, setWhole] = useState(false);
  const before = run.requestBefore(step);
  const next = before + 1;
  const place = run.requests[next];
  const shown = place === undefined ? before : next;
  const bodies = useBodies(run, shown);
  const { method, url, step: sentIn } = run.requests[shown] ?? {};
  if (url === undefined) return <p class="quiet">The run has sent no request.</p>;
  return (
    <>
      {place === undefined && (
        <p class="quiet">The recording has no request after this step. The last one was:</p>
      )}
      <p>
        <code class="url">
          {method} {url}
        </code>{" "}
        <button type="button" onClick={() => lab.go(run, sentIn!)}>
          Sent in step {sentIn! + 1}
        </button>
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isWhole}
          onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
        />
        <span>The whole body</span>
      </label>
      {bodies === undefined ? (
        <p class="quiet">…</p>
      ) : isWhole ? (
        <pre tabIndex={0}>{bodies.shown}</pre>
      ) : (
        <Diff text={textDiff(bodies.before, bodies.shown)} />
      )}
    </>
  );
}

interface Bodies {
  readonly before: string;
  readonly shown: string;
}

/** The body of a request and of the one before, each as indented JSON, when there was time to play up to there. */
function useBodies(run: OpenedRun, shown: number): Bodies | undefined {
  const [bodies, setBodies] = useState<Bodies & { of: string }>();
  const of = `${run.facts.key} ${shown}`;
  useEffect(() => {
    if (shown < 0) return;
    const timer = setTimeout(() => {
      const [last = "", before = ""] = run.playback.bodies(shown === 0 ? [0] : [shown, shown - 1]);
      setBodies({ before: indented(before), shown: indented(last), of });
    }, 0);
    return () => clearTimeout(timer);
  }, [of]);
  return bodies?.of === of ? bodies : undefined;
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
