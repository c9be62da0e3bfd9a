/** Replays the partial answer of a snapshot as events, block by block. */
import type { RunEvent, RunEventOf } from "../../core/api/event.js";

/** The events of the blocks of a snapshot. They have its stamp. */
export function* replayed(snapshot: RunEventOf<"snapshot">): Generator<RunEvent> {
  const { type: _, text: __, blocks, messages: ___, iterations: ____, usage: _____, ...stamp } = snapshot;
  for (const told of blocks) {
    const { block, text, isOver } = told;
    if (told.type === "tool-input") {
      const { toolCallId, toolName, input } = told;
      yield { ...stamp, type: "tool-input-start", block, toolCallId, toolName };
      if (text !== "") yield { ...stamp, type: "tool-input-delta", block, text };
      if (isOver) yield { ...stamp, type: "tool-input-end", block };
      if (input !== undefined) yield { ...stamp, type: "tool-call", toolCallId, toolName, input };
      continue;
    }
    if (told.type === "text")
      yield { ...stamp, type: "text-start", block, ...(told.refusal && { refusal: true }) };
    else yield { ...stamp, type: "reasoning-start", block };
    if (text !== "") yield { ...stamp, type: `${told.type}-delta`, block, text };
    if (isOver) yield { ...stamp, type: `${told.type}-end`, block };
  }
}
