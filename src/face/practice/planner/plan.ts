/**
 * The planner behind `practice`: reads a conversation and decides what a helpful model would answer. Deterministic and
 * without state: equal conversations give equal plans.
 */
import type { Conversation, Plan } from "../conversation.js";
import { noteResults, writeAnswer, writePreface } from "./answer.js";
import { readEpisode, type Episode } from "./episode.js";
import { forcedStep, planSteps, type Step } from "./steps.js";
import { summaryOf } from "./summary.js";
import { talk } from "./talk.js";

/** Rounds after which the planner answers with what it has, so that a loop always ends. */
const MAX_ROUNDS = 8;

/** The answer to `conversation`: tool calls, or a text, or both. */
export function plan(conversation: Conversation): Plan {
  const summary = summaryOf(conversation);
  if (summary !== undefined)
    return { thinking: "A summary of the conversation is wanted.", text: summary, calls: [] };
  const episode = readEpisode(conversation);
  const { tools, choice } = conversation;
  const callable =
    choice.type === "none"
      ? []
      : choice.type === "tool"
        ? tools.filter(({ name }) => name === choice.name)
        : tools;
  const { steps, unmatched } = planSteps(episode, callable);
  const ready = steps.filter(({ state }) => state === "ready");
  const isForced = choice.type === "any" || choice.type === "tool";
  if (ready.length > 0 && (episode.rounds < MAX_ROUNDS || isForced))
    return callPlan(conversation, episode, ready, steps);
  if (isForced) {
    const step = forcedStep(episode, callable, choice.type === "tool" ? choice.name : undefined);
    if (step) return callPlan(conversation, episode, [step], steps);
  }
  if (steps.some(({ result }) => result)) return answerPlan(episode, steps, unmatched);
  const fromHistory =
    choice.type === "none" || steps.length === 0 ? strayAnswer(conversation, episode, tools) : undefined;
  if (fromHistory) return fromHistory;
  return {
    thinking: `No tool fits this prompt, so I answer in words.`,
    text: talk(episode, conversation),
    calls: [],
  };
}

function callPlan(
  conversation: Conversation,
  episode: Episode,
  ready: readonly Step[],
  all: readonly Step[],
): Plan {
  const now = conversation.isParallel ? ready : ready.slice(0, 1);
  const calls = now.map(({ tool, input }) => ({ name: tool.name, input }));
  const isForced = conversation.choice.type === "any" || conversation.choice.type === "tool";
  const isNew = episode.rounds === 0 || now.some(({ isRetry }) => isRetry);
  const names = now.map(({ tool, input }) => `${tool.name}(${JSON.stringify(input)})`).join(" and ");
  const together = now.length > 1 ? " They do not depend on each other, so I ask for them at once." : "";
  const known = noteResults(all);
  return {
    thinking: `${known === "" ? "" : `I have so far:\n${known}\n`}The prompt asks for ${all.length || 1} ${all.length > 1 ? "things" : "thing"}; next is ${names}.${together}`,
    text: isNew && !isForced ? writePreface(now) : "",
    calls,
  };
}

function answerPlan({ prompts }: Episode, steps: readonly Step[], unmatched: readonly string[]): Plan {
  const steered = prompts.length > 1 ? `The user added: ${prompts.slice(1).join(" / ")}\n` : "";
  return {
    thinking: `${steered}All results are here:\n${noteResults(steps)}\nI write the answer out of them.`,
    text: writeAnswer(steps, unmatched),
    calls: [],
  };
}

/** Results of calls that the planner would not have made itself, for instance of a forced tool or of another model. */
function strayAnswer(
  conversation: Conversation,
  episode: Episode,
  tools: Conversation["tools"],
): Plan | undefined {
  const steps = episode.calls.map((result): Step => ({
    tool: tools.find(({ name }) => name === result.name) ?? {
      name: result.name,
      description: "",
      schema: {},
    },
    text: episode.prompts.join("\n"),
    input: typeof result.input === "object" && result.input !== null ? { ...result.input } : {},
    state: result.isError ? "failed" : "done",
    result,
    isRetry: false,
  }));
  return steps.length === 0 || conversation.said.length === 0 ? undefined : answerPlan(episode, steps, []);
}
