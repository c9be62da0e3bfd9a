/** @jsxImportSource preact */
/** What is known of a step, in tabs. */
import { useState } from "preact/hooks";
import type { Lab } from "../../model/lab.js";
import type { OpenedRun } from "../../model/opened-run.js";
import { ForkForm } from "./fork-form.js";
import { Happening } from "./happening.js";
import { NextRequest } from "./next-request.js";
import { Prefixes } from "./prefixes.js";
import { StateView } from "./state-view.js";

export interface StepProps {
  lab: Lab;
  run: OpenedRun;
  step: number;
}

const TABS = {
  state: "State",
  step: "Step",
  request: "Next request",
  prefix: "Prefix",
  fork: "Continue",
} as const;
type Tab = keyof typeof TABS;

export function Detail(props: StepProps) {
  const [tab, setTab] = useState<Tab>("state");
  const names = Object.keys(TABS) as Tab[];
  const id = `${props.run.facts.key} tab`.replaceAll(" ", "-");
  const walk = (event: KeyboardEvent): void => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way === 0) return;
    const next = names[(names.indexOf(tab) + way + names.length) % names.length]!;
    setTab(next);
    const bar = event.currentTarget as HTMLElement;
    bar.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  };
  return (
    <section class="detail">
      <div class="tabs" role="tablist" aria-label="Of this step" onKeyDown={walk}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={tab === name}
            aria-controls={`${id}-panel`}
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {TABS[name]}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`} tabIndex={0}>
        {tab === "state" && <StateView {...props} />}
        {tab === "step" && <Happening step={props.run.steps[props.step]!} />}
        {tab === "request" && <NextRequest {...props} />}
        {tab === "prefix" && <Prefixes {...props} />}
        {tab === "fork" && <ForkForm key={`${props.run.facts.key} ${props.step}`} {...props} />}
      </div>
    </section>
  );
}
