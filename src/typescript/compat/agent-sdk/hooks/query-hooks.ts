/**
 * The hooks of a query in looplet's form. Each receives the session, and an agent of the tool Agent has those that
 * apply to agents. A session starts and ends once, even if the query changes its agents and servers.
 */
import type { Hooks } from "../../../core/api/index.js";
import type { SessionSource } from "../../../core/api/index.js";
import {
  agentSdkHooks,
  type AgentSdkHook,
  type AgentSdkHookGroup,
  type AgentSdkHooks,
} from "../../presets/agent-sdk-hooks.js";
import { EVENTS } from "../../../core/kit/tables.js";
import { matcherOf } from "../../../core/kit/check.js";
import type { UnstampedObservation } from "../turn.js";
import type { PlainOptions } from "../options/options.js";
import { HOOK_EVENTS } from "./events.js";

/** The session, as its hooks see it. */
export interface HookedSession {
  sessionId(): string;
  /** How the session starts. Undefined after it has started. */
  beginning(): SessionSource | "fork" | undefined;
  tell(message: UnstampedObservation): void;
  /** Resolves when the store has every message so far, or has not taken them within a few seconds. */
  saved(): Promise<void>;
}

/** An agent that a call of the tool Agent has made. */
export interface AskedAgent {
  /** The id of the call. */
  readonly id: string;
  /** Its name among the `agents`. */
  readonly type: string;
}

/** Events of the query's own conversation. Agents do not have them. */
const OF_THE_QUERY = ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure"];

/** The points in the run of an agent at which the hooks about agents are called. */
const OF_AGENTS: { readonly [event: string]: "UserPromptSubmit" | "Stop" } = {
  SubagentStart: "UserPromptSubmit",
  SubagentStop: "Stop",
};

/** The events of the SDK that have hooks in these options, and that no query calls. */
export function unsupportedHooks({ hooks = {} }: { readonly hooks?: object | undefined }): string[] {
  return Object.keys(hooks).filter((event) => isUnsupported(event));
}

const isUnsupported = (event: string): boolean =>
  (HOOK_EVENTS as readonly string[]).includes(event) && !EVENTS.includes(event);

/** The hooks of the query, or of an agent that it asks. */
export function queryHooks(
  { hooks = {}, cwd = "/", includeHookEvents = false }: PlainOptions,
  session: HookedSession,
  agent?: AskedAgent,
): Hooks {
  const placed: { [event: string]: AgentSdkHookGroup[] } = {};
  for (const [event, groups] of Object.entries(hooks as { [event: string]: unknown })) {
    if (isUnsupported(event) || (agent !== undefined && OF_THE_QUERY.includes(event))) continue;
    const point = (agent && OF_AGENTS[event]) ?? event;
    // `createAgent` names what is wrong with such a list.
    if (!Array.isArray(groups)) placed[point] = groups as never;
    else
      placed[point] = (groups as AgentSdkHookGroup[]).flatMap((group) => {
        if (!Array.isArray(group?.hooks)) return group;
        const { matcher, ...rest } = group;
        const isFor =
          event in OF_AGENTS || event === "SessionStart"
            ? matcherOf(matcher, `hooks.${event}.matcher`)
            : undefined;
        if (event in OF_AGENTS && agent !== undefined && isFor?.(agent.type) === false) return [];
        const name = matcher === undefined ? event : `${event}:${matcher}`;
        const own = (hook: AgentSdkHook): AgentSdkHook => {
          const asked = includeHookEvents ? emitting(hook, event, name, session) : hook;
          return async (input, id, context) => {
            // The session that ends has saved its messages, and waits for no hook.
            if (event !== "SessionEnd") await session.saved();
            const facts = factsOf(event, input, { cwd, session, agent });
            if (event === "SessionStart" && (facts.source === undefined || isFor?.(facts.source) === false))
              return undefined;
            return asked(facts, id, context);
          };
        };
        const isMatchedHere = event === "SessionStart" || (event in OF_AGENTS && agent !== undefined);
        return {
          ...rest,
          ...(isMatchedHere || matcher === undefined ? {} : { matcher }),
          hooks: group.hooks.map(own),
        };
      });
  }
  return agentSdkHooks(placed as AgentSdkHooks);
}

/** The input of a hook for this event. */
function factsOf(
  event: string,
  input: { [field: string]: any },
  { cwd, session, agent }: { cwd: string; session: HookedSession; agent: AskedAgent | undefined },
): { [field: string]: any } {
  const facts = { session_id: session.sessionId(), transcript_path: "", cwd, ...input };
  if (event === "SessionStart") return { ...facts, source: session.beginning() };
  if (agent === undefined) return facts;
  const asked = { ...facts, hook_event_name: event, agent_id: agent.id, agent_type: agent.type };
  if (event === "SubagentStop") return { ...asked, agent_transcript_path: "" };
  if (event !== "SubagentStart") return asked;
  const { prompt: _, source: __, ...start } = asked as typeof asked & { prompt: string; source: string };
  return start;
}

let calls = 0;

/** The hook, with a message about each call. */
function emitting(hook: AgentSdkHook, event: string, name: string, { tell }: HookedSession): AgentSdkHook {
  return async (...given) => {
    const about = { hook_id: `hook_${(calls += 1)}`, hook_name: name, hook_event: event };
    tell({ type: "system", subtype: "hook_started", ...about });
    const ended = (outcome: "success" | "error", output: string): void =>
      tell({ type: "system", subtype: "hook_response", ...about, outcome, output, stdout: "", stderr: "" });
    try {
      const answer = await hook(...given);
      ended("success", JSON.stringify(answer ?? {}));
      return answer;
    } catch (error) {
      ended("error", error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
}
