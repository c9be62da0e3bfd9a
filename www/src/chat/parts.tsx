/** The parts of an answer from `looplet/ui`: texts, reasoning, cards of calls, and the lines between them. */
import type { UiPart } from "looplet/ui";
import type { ReactElement, ReactNode } from "react";
import { tokens } from "../words/amount.js";
import { Markdown } from "./markdown.js";
import { Divider } from "./notice.js";
import { ToolCard, type CallActions } from "./tool-card.js";

export interface PartsProps {
  parts: readonly UiPart[];
  actions: CallActions;
  /** Returns the lines before the part with this number, of this agent. For the last one, those after all parts. */
  linesAt?: ((agentPath: string, part: number, isLast: boolean) => ReactNode[]) | undefined;
  agentPath?: string;
}

export function Parts(props: PartsProps) {
  const { parts, actions, linesAt = () => [], agentPath = "root" } = props;
  const drawn: ReactNode[] = [];
  // Calls that follow each other share a row.
  let calls: ReactElement[] = [];
  const closeRow = () => {
    if (calls[0]) drawn.push(<div key={`calls-${calls[0].key}`} className="calls" children={calls} />);
    calls = [];
  };
  parts.forEach((part, at) => {
    const lines = linesAt(agentPath, at, false);
    if (lines.length > 0 || part.type !== "tool") closeRow();
    drawn.push(...lines);
    if (part.type !== "tool") return drawn.push(<Piece key={at} part={part} />);
    const { agent } = part;
    return calls.push(
      <ToolCard key={`${at} ${part.toolCallId}`} part={part} actions={actions}>
        {agent && <Parts {...props} parts={agent.parts} agentPath={agent.agentPath} />}
      </ToolCard>,
    );
  });
  closeRow();
  return [...drawn, ...linesAt(agentPath, parts.length, true)];
}

function Piece({ part }: { part: UiPart }) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} />;
    case "reasoning":
      return (
        <details className="reasoning" data-state={part.state}>
          <summary>
            <span>{part.state === "done" ? "Reasoning" : "Thinking …"}</span>
          </summary>
          <p className="reasoning-text">{part.text}</p>
        </details>
      );
    case "compaction": {
      const { state, preTokens, postTokens } = part;
      if (state === "running") return null;
      const sizes =
        preTokens === undefined ? "" : `: about ${tokens(preTokens)} → ${tokens(postTokens ?? 0)} tokens`;
      return <Divider icon="fold" text={`History compacted${sizes}`} summary={part.summary} />;
    }
    case "file":
      return <p className="quiet">[{part.name ?? part.mediaType}]</p>;
    default:
      return null;
  }
}

/** A message of the user. `kind` says how it was sent, if it was not a prompt. */
export function Bubble({ text, kind }: { text: string; kind?: string | undefined }) {
  return (
    <section className="asked" aria-label="You">
      {kind !== undefined && <span className="badge">{kind}</span>}
      <p>{text}</p>
    </section>
  );
}
