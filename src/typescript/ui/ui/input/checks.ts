/** The checks of what a page gives: agents and options. */
import { LoopletError } from "../../../core/api/errors.js";
import { isObject } from "../../../core/kit/check.js";
import type { ConversationAgent } from "../conversation.js";

export function checkAgent(agent: ConversationAgent): void {
  if (!isObject(agent) || typeof (agent as Partial<ConversationAgent>).openChat !== "function")
    throw new LoopletError("config_wrong_type", "agent", "needs an agent: createAgent(…) or connectAgent(…)");
}

/** Rejects an unknown option, so that no option is silently ignored. The types check the values. */
export function checkNames(options: object, names: readonly string[]): void {
  const unknown = isObject(options) ? Object.keys(options).find((name) => !names.includes(name)) : "options";
  if (unknown === undefined) return;
  const problem = `no such option here; there are ${names.join(", ")}`;
  throw new LoopletError("config_unknown_option", unknown, problem);
}
