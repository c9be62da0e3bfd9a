/** What runs have shown of effects: which tools have them. An invariant judges such a tool by its effects. */
import type { SimulatedRun } from "./record.js";

export class Effects {
  /** The names of effects, each with the tools that have it. */
  readonly #toolsOf = new Map<string, Set<string>>();

  static of(run: SimulatedRun): Effects {
    const effects = new Effects();
    effects.add(run);
    return effects;
  }

  /** Takes the effects of another run. */
  add({ calls, effects }: SimulatedRun): void {
    if (effects.length === 0) return;
    const toolNames = new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
    for (const { name, key } of effects) {
      const tools = this.#toolsOf.get(name) ?? new Set([name]);
      const ofCall = toolNames.get(key);
      if (ofCall !== undefined) tools.add(ofCall);
      this.#toolsOf.set(name, tools);
    }
  }

  /** Whether the tool has a matching effect: one with the tool's name, or one with its call's id as key. */
  has(toolName: string, fits: (effect: string) => boolean): boolean {
    for (const [effect, tools] of this.#toolsOf) if (fits(effect) && tools.has(toolName)) return true;
    return false;
  }
}
