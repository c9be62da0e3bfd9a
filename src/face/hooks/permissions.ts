/** Asks your functions whether calls may run, and hands their answers on. It decides nothing. */
import type { CanUseTool, PermissionOptions, PermissionRequest } from "../api/permission.js";
import type { Question, QuestionAnswer } from "../host/driver.js";
import { checkPermissionResult, type RuledTools } from "../options/permissions.js";
import { message } from "../options/thrown.js";
import type { Driver } from "../run/engine.js";
import type { ToolSet } from "../tools/tool.js";

type Asked = Question["permission"];

/** Asks your functions about the calls of one run. */
export class Permissions {
  readonly #options: PermissionOptions;
  readonly #sets: readonly ToolSet[];
  readonly #tools: RuledTools;
  readonly #driver: () => Driver | undefined;
  readonly #open = new Map<number, AbortController>();

  constructor(
    options: PermissionOptions,
    sets: readonly ToolSet[],
    tools: RuledTools,
    driver: () => Driver | undefined,
  ) {
    this.#options = options;
    this.#sets = sets;
    this.#tools = tools;
    this.#driver = driver;
  }

  /** Asks about one call. The question stays open for `run.answer` if there is no function, or if it returns `null`. */
  ask(questionId: number, { call, classify }: Asked, profile: number): void {
    const decide = classify ? this.#options.classifyTool : this.#options.canUseTool;
    if (decide === undefined) return;
    const controller = new AbortController();
    this.#open.set(questionId, controller);
    const { description } = this.#sets[profile]?.get(call.toolName)?.config ?? {};
    const { signal } = controller;
    const request = { agentPath: "root", description, ...call, questionId, signal };
    void this.#decide(decide, request).then((answer) => {
      if (answer === null || !this.#open.delete(questionId)) return;
      this.#driver()?.answer(questionId, answer);
    });
  }

  /** Closes a question that `run.answer` has answered or that has run out of time. */
  close(questionId: number): void {
    this.#open.get(questionId)?.abort();
    this.#open.delete(questionId);
  }

  closeAll(): void {
    for (const questionId of [...this.#open.keys()]) this.close(questionId);
  }

  async #decide(
    decide: CanUseTool,
    { toolName, input, ...request }: Asked["call"] & PermissionRequest,
  ): Promise<QuestionAnswer | null> {
    try {
      const answer = (await decide(toolName, input, request)) ?? null;
      if (answer === null) return null;
      return { permission: checkPermissionResult(answer, this.#options, this.#tools) };
    } catch (error) {
      return { failed: { why: `The call was denied, because it could not be decided: ${message(error)}` } };
    }
  }
}
