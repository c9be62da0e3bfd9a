/** The engine's questions and their answers, in the form of their JSON. */
import type { Block, Message, PermissionResult, PermissionUpdate, ToolFault } from "../api/index.js";
import type { Point } from "../generated/model.js";

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

/** A question of the engine to one of your functions. */
export interface Question {
  readonly point: Point;
  /** The index of the function among the run's functions; 0 at a point that has one function. */
  readonly asker: number;
  /** The agent that asks: an index of the agents' configurations, 0 for the run's own. */
  readonly profile: number;
  readonly agentPath: string;
  readonly iteration: number;
  readonly agentName?: string;
  readonly permissionMode?: string;
  readonly effort?: string;
  /** The facts of the question, by its point: `Facts` of the engine. */
  readonly data: any;
}

/** A call whose input your code prepares. */
export type AskedCall = Omit<ToolInvocation, "input"> & { readonly input: unknown };

/** A failed call whose error your code words. */
export interface AskedError {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly error: ToolFault & { error: true };
}

/** The result of a tool. `value` is JSON text. */
export type ToolReturn = ({ value: string } | { content: readonly Block[] } | { fault: ToolFault }) & {
  /** Whether the tool wants the run to end after this round. */
  terminate?: boolean;
};

/** The answer to a question. `prepared` has one entry per asked call. */
export type Answer =
  | { prepared: PreparedCall[] }
  | { permission: PermissionResult }
  | { classified: PermissionResult }
  | { worded: string[] }
  | { stop: boolean }
  | { summary: string }
  | { checked: { problem?: string; output?: unknown } }
  | { hook: HookAnswer }
  | { failed: { why: string } };

export interface PreparedCall {
  input?: unknown;
  resourceKey?: string;
  problem?: string;
  needsApproval?: boolean;
}

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
