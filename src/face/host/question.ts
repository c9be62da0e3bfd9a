/** The engine's questions and their answers, in the form of their JSON. */
import type {
  Block,
  CompactionRequest,
  Message,
  PermissionRequest,
  PermissionResult,
  PermissionUpdate,
  ToolFault,
  ToolRound,
} from "../api/index.js";

/** One call of a tool. */
export interface ToolInvocation {
  call: number;
  toolCallId: string;
  toolName: string;
  /** The arguments as JSON text. */
  input: string;
  iteration: number;
  /** The calling agent's number in the run, 0 for the root. */
  agent: number;
  /** The owner of the tool: an index of the agents' configurations, 0 for the run's own. */
  profile: number;
}

/**
 * A question of the engine, which has one of these fields besides `profile`. The `input` of its calls is parsed JSON.
 */
export interface Question {
  /** The agent that asks: an index of the agents' configurations, 0 for the run's own. */
  profile: number;
  /**
   * The calls to prepare, and the `texts` that permission rules compare; the answer brings the platform's readings of
   * them.
   */
  prepareCalls: { calls: (Omit<ToolInvocation, "input"> & { input: unknown })[]; texts: string[] };
  wordErrors: {
    errors: { toolCallId: string; toolName: string; input: unknown; error: ToolFault & { error: true } }[];
  };
  permission: {
    call: { toolName: string; input: unknown; agentPath?: string } & Omit<
      PermissionRequest,
      "agentPath" | "questionId" | "signal"
    >;
    classify: boolean;
  };
  checkOutput: { output: unknown };
  summarize: { compact: Omit<CompactionRequest, "signal"> };
  hook: { hook: number; event: string; input: any };
  stop: { about: "condition" | "repeat"; round: ToolRound & { times: number } };
}

/** The result of a tool. `value` is JSON text. */
export type ToolReturn = ({ value: string } | { content: readonly Block[] } | { fault: ToolFault }) & {
  /** Whether the tool wants the run to end after this round. */
  terminate?: boolean;
};

/** The answer to a question. `prepared` has one entry per asked call. */
export type QuestionAnswer =
  | { prepared: { input?: unknown; resourceKey?: string; problem?: string; needsApproval?: boolean }[] }
  | { permission: PermissionResult }
  | { worded: string[] }
  | { stop: boolean }
  | { summary: string }
  | { checked: { problem?: string; output?: unknown } }
  | { hook: HookAnswer }
  | { failed: { why: string } };

/** The answer of a hook or a guardrail. */
export interface HookAnswer {
  decision?: string | undefined;
  reason?: string | undefined;
  updatedInput?: unknown;
  updatedOutput?: unknown;
  messages?: readonly Message[] | undefined;
  context?: string[];
  stop?: string;
  retry?: boolean | undefined;
  prepared?: object;
  limits?: object;
  interrupt?: boolean | undefined;
  updatedPermissions?: readonly PermissionUpdate[] | undefined;
  systemMessage?: string | undefined;
  classifierContext?: string[];
}
