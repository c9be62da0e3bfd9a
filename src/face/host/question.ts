/** What the engine asks of the host, and what it gets back, as their JSON has it. */
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
  /** JSON text of the arguments. */
  input: string;
  iteration: number;
  /** Who calls: the agent's number in the run, 0 for the root. */
  agent: number;
  /** Whose tool: the place of the agent's configuration, 0 for the run's own. */
  profile: number;
}

/** A question of the engine: one of these. The `input` of its calls is parsed JSON. */
export interface Question {
  /** Whose it is: the place of the agent's configuration, 0 for the run's own. */
  profile: number;
  prepareCalls: { calls: (Omit<ToolInvocation, "input"> & { input: unknown })[] };
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

/** What a tool came back with. `value` is JSON text. */
export type ToolReturn = ({ value: string } | { content: readonly Block[] } | { fault: ToolFault }) & {
  /** Its tool wants the run to end after this round. */
  terminate?: boolean;
};

/** The answer to a question. `prepared` has one entry per asked call. */
export type QuestionAnswer =
  | { prepared: { input?: unknown; resourceKey?: string; problem?: string; needsApproval?: boolean }[] }
  | PermissionResult
  | { worded: string[] }
  | { stop: boolean }
  | { summary: string }
  | { checked: { problem?: string; output?: unknown } }
  | { hook: HookAnswer }
  | { failed: { why: string } };

/** What a hook or a guardrail says. */
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
  classifierContext?: string | undefined;
}
