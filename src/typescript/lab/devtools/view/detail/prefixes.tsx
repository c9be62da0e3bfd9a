/** @jsxImportSource preact */
/** What each request shares with the one before it: a bar for each, and the cause where the prefix breaks. */
import type { PrefixBreak, SharedPrefix } from "../../../../core/api/index.js";
import { CAUSES, newTokens, partText } from "../../../replay/prefix-words.js";
import type { Lab } from "../../model/lab.js";
import type { OpenedRun, RequestPlace } from "../../model/opened-run.js";
import type { StepProps } from "./detail.js";

/** Requests in the list. Those nearest to the step are shown. */
const SHOWN = 100;

export function Prefixes({ lab, run, step }: StepProps) {
  const { requests } = run;
  if (!requests.some(({ prefix }) => prefix !== undefined))
    return (
      <p class="quiet">
        No request has a previous one to compare with. Comparison starts with the second request of a recorded
        run.
      </p>
    );
  const here = run.requestBefore(step);
  const first = Math.max(0, Math.min(here - SHOWN / 2, requests.length - SHOWN));
  const shown = requests.slice(first, first + SHOWN);
  const most = Math.max(...shown.map(({ prefix }) => prefix?.tokens ?? 0));
  const broken = requests.filter(({ prefix }) => prefix?.broken !== undefined);
  const again = broken.reduce((sum, { prefix }) => sum + newTokens(prefix!), 0);
  return (
    <>
      <p>
        {broken.length === 0
          ? "Every request starts with the full previous request."
          : `${counted(broken.length)}: about ${amount(again)} tokens were not shared there.`}
      </p>
      {shown.length < requests.length && (
        <p class="quiet">
          Requests {first + 1} to {first + shown.length} of {requests.length}
        </p>
      )}
      <ol class="prefixes" aria-label="What requests share">
        {shown.map((place, index) => (
          <Row
            key={first + index}
            lab={lab}
            run={run}
            place={place}
            number={first + index + 1}
            most={most}
            isHere={first + index === here}
          />
        ))}
      </ol>
      <p class="quiet">
        Tokens are estimated from bytes. A vendor reads shared tokens from its cache if they are many enough
        and the request before is recent.
      </p>
    </>
  );
}

interface RowProps {
  lab: Lab;
  run: OpenedRun;
  place: RequestPlace;
  number: number;
  most: number;
  isHere: boolean;
}

function Row({ lab, run, place, number, most, isHere }: RowProps) {
  const { prefix, agentPath } = place;
  const agent = agentPath === "root" ? "" : ` of ${agentPath.slice("root/".length)}`;
  return (
    <li class={isHere ? "is-here" : ""}>
      <button type="button" aria-current={isHere} onClick={() => lab.go(run, place.step)}>
        Request {number}
        {agent}
      </button>
      {prefix === undefined ? (
        <span class="quiet">not compared</span>
      ) : (
        <>
          <Bar prefix={prefix} most={most} />
          <span>{amounts(prefix)}</span>
          {prefix.broken !== undefined && <strong class="broken">{brokenText(prefix.broken)}</strong>}
          {prefix.appended !== undefined && (
            <span>Changed by {CAUSES[prefix.appended]}, and sent at the end: the prefix is whole.</span>
          )}
        </>
      )}
    </li>
  );
}

/** The bar of a request: shared, then new or after the break. The longest of the list is as wide as the place. */
function Bar({ prefix, most }: { prefix: SharedPrefix; most: number }) {
  const { sharedTokens, broken } = prefix;
  const width = (tokens: number): { width: string } => ({ width: `${(100 * tokens) / Math.max(1, most)}%` });
  return (
    <span class="share" role="img" aria-label={amounts(prefix)}>
      <span class="shared" style={width(sharedTokens)} />
      <span class={broken === undefined ? "new" : "lost"} style={width(newTokens(prefix))} />
    </span>
  );
}

function amounts(prefix: SharedPrefix): string {
  const rest = prefix.broken === undefined ? "new" : "not shared";
  return `${amount(prefix.sharedTokens)} tokens shared, ${amount(newTokens(prefix))} ${rest}`;
}

function brokenText(broken: PrefixBreak): string {
  const part = partText(broken);
  return `${part[0]!.toUpperCase()}${part.slice(1)} changed: ${CAUSES[broken.cause]}.`;
}

function counted(breaks: number): string {
  return breaks === 1 ? "1 request breaks its prefix" : `${breaks} requests break their prefix`;
}

function amount(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
