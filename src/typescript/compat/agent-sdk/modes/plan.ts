/** The mode `plan`: the model is instructed to plan, and ends planning with the tool ExitPlanMode. */
import type { HookGroup, PermissionMode, Tool } from "../../../core/api/index.js";
import { tool } from "../../../core/index.js";

const PLAN =
  "Plan mode is on. You read and think, and change nothing: tools that change something are denied.";
const STRICT = "Plan mode is on. You think, and no tool runs.";
const WORKFLOW =
  "Find out what the task needs, then write a plan for the user: what you will change, in which order, and how you will check it.";

export interface Planning {
  permissionMode(): PermissionMode;
  /** Leaves the mode for the one that the user has chosen. */
  leavePlan(): void;
}

export interface PlanOptions {
  /** What the model does while it plans, in place of looplet's own words. */
  readonly planModeInstructions?: string | undefined;
  readonly planAllowsReadOnly?: boolean | undefined;
}

/** Tools that also run in strict planning, because they only concern the plan. */
const OF_THE_PLAN = ["ExitPlanMode", "AskUserQuestion", "TodoWrite"];

/** Adds the instructions of the mode to each prompt. */
export function planHook(
  { planModeInstructions = WORKFLOW, planAllowsReadOnly = true }: PlanOptions,
  planning: Planning,
  canExit: boolean,
): HookGroup<"UserPromptSubmit"> {
  const end = canExit
    ? "When the plan is ready, call ExitPlanMode with it, and wait for the approval."
    : "Your last text is the plan.";
  const text = [planAllowsReadOnly ? PLAN : STRICT, planModeInstructions, end].join(" ");
  return {
    hooks: [() => (planning.permissionMode() === "plan" ? { additionalContext: text } : undefined)],
  };
}

/** Lets no tool run while the model plans. */
export function strictHook(planning: Planning): HookGroup<"PreToolUse"> {
  const reason = "No tool runs in plan mode. Write the plan.";
  return {
    hooks: [
      ({ toolName }) =>
        planning.permissionMode() === "plan" && !OF_THE_PLAN.includes(toolName)
          ? { decision: "deny", reason }
          : undefined,
    ],
  };
}

export function exitPlanTool(planning: Planning): Tool {
  return tool({
    description: "Shows the user the plan and asks for the approval. Call it when the plan is ready.",
    inputSchema: {
      type: "object",
      properties: { plan: { type: "string", description: "The plan, as Markdown" } },
      required: ["plan"],
    },
    readOnly: true,
    needsApproval: true,
    execute: ({ plan }) => {
      planning.leavePlan();
      return `The user has approved the plan, and plan mode is over. Carry it out.\n\n${plan}`;
    },
  }) as Tool;
}
