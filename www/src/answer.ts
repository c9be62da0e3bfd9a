/**
 * What one run puts into the transcript: what its agents say and do, subagents inside the card of the call that they
 * answer, the questions that wait for a person, and a last line with what it cost.
 */
import type { Message, PermissionResult, Reconciliation, RunEvent, RunEventOf, RunResult } from "looplet";
import { AgentView } from "./agent-view.js";
import { cost, counted, duration, tokens } from "./amount.js";
import { isUnanswered } from "./conversation.js";
import { budgetOf, budgets, type BudgetName } from "./budget.js";
import { element } from "./element.js";
import { explain, type Explanation } from "./failure.js";
import { drawNow } from "./frame.js";
import { notice } from "./notice.js";
import { heldBack } from "./permission.js";
import type { Tally } from "./tally.js";
import type { Asking, ToolCard } from "./tool-card.js";

/** Contract: what a person does to a run from inside the transcript. */
export interface AnswerActions {
  act(action: NonNullable<Explanation["action"]>): void;
  /** Goes on with more of the budget that was used up. */
  goOn(budget: BudgetName): void;
  /** What the budget would become. */
  raised(budget: BudgetName): string;
  /** JSON Schema of a tool's input. */
  schemaOf(toolName: string): unknown;
  answer(questionId: number, result: PermissionResult | Reconciliation): void;
  /** What the user has said, as the transcript shows it. */
  bubble(text: string): HTMLElement;
  /** The keyboard was on something that is gone. */
  leave(): void;
  /** Does what plan mode held back. */
  carryOut(): void;
}

interface OpenQuestion {
  card: ToolCard;
  approval: Asking;
  toolName: string;
}

export class Answer {
  readonly #list: HTMLElement;
  readonly #actions: AnswerActions;
  readonly #open = new Map<number, OpenQuestion>();
  #heldBack = 0;
  /** By their paths. */
  readonly #agents = new Map<string, AgentView>();
  readonly #name: string;
  readonly #tally: Tally;
  readonly #origin: string | undefined;
  #section: HTMLElement | undefined;

  /** `name` is that of the run, and `tally` counts what it uses; `origin` says why it begins with a snapshot. */
  constructor(
    list: HTMLElement,
    name: string,
    tally: Tally,
    origin: string | undefined,
    actions: AnswerActions,
  ) {
    this.#origin = origin;
    this.#list = list;
    this.#name = name;
    this.#tally = tally;
    this.#actions = actions;
  }

  /** Calls that wait for the person. */
  get openQuestions(): number {
    return this.#open.size;
  }

  /** Puts the keyboard on the first call that waits; false when none does. */
  review(): boolean {
    const [first] = this.#open.values();
    first?.card.element.scrollIntoView({ block: "nearest" });
    first?.approval.focus();
    return first !== undefined;
  }

  handle(event: RunEvent): void {
    if (event.type === "snapshot") return this.#restore(event.messages);
    const agent = this.#agent(event);
    if (event.type === "question") return this.#ask(agent, event);
    if (event.type === "answered") return this.#close(event.questionId);
    if (event.type === "tool-error" && event.error.message.includes(heldBack)) this.#heldBack += 1;
    agent.handle(event);
  }

  /** A message of the user that has become part of the transcript. */
  heard(bubble: HTMLElement): void {
    this.#leaveSection();
    this.#list.append(bubble);
  }

  settle(result: RunResult): void {
    for (const agent of this.#agents.values()) agent.close();
    const summarised = summaryOf(result);
    if (summarised !== undefined) this.#root.unfold(summarised);
    this.#open.clear();
    drawNow();
    if (result.error) this.#sayFailure(explain(result.error), isUnanswered(result));
    else if (result.outcome === "cancelled")
      this.#say(notice("info", `${endOf(result)} What arrived stays in the conversation.`));
    else if (result.outcome === "stopped") this.#sayStopped(result.stoppedBy);
    else if (this.#heldBack > 0) this.#sayHeldBack();
    this.#current().append(summary(this.#name, result, this.#tally));
    this.#leaveSection();
  }

  /** What the run had done before the page was reloaded. */
  #restore(messages: readonly Message[]): void {
    for (const message of messages) {
      const said = message.role === "user" ? message.content.filter(({ type }) => type === "text") : [];
      if (said.length < message.content.length)
        this.#root.restore({ ...message, content: message.content.filter((block) => !said.includes(block)) });
      for (const block of said) if (block.type === "text") this.heard(this.#actions.bubble(block.text));
    }
    if (this.#origin !== undefined) this.#say(notice("info", this.#origin));
  }

  // A subagent speaks inside the card of the call that it answers.
  #agent(event: RunEvent): AgentView {
    const { agentPath: path } = event;
    const known = this.#agents.get(path);
    if (known) return known;
    const slash = path.lastIndexOf("/");
    const parent = this.#agents.get(path.slice(0, Math.max(0, slash)));
    const inside = event.parentToolCallId && parent?.find(event.parentToolCallId)?.nest();
    const agent = new AgentView(inside ? () => inside : () => this.#current());
    this.#agents.set(path, agent);
    return agent;
  }

  #ask(agent: AgentView, { questionId, question, data }: RunEventOf<"question">): void {
    if (question === "reconcile" && data) {
      const card = agent.cardOf(data);
      const approval = card.reconcile((result) => this.#actions.answer(questionId, result));
      this.#open.set(questionId, { card, approval, toolName: data.toolName });
    }
    if (question !== "permission" || !data) return;
    const card = agent.cardOf(data);
    const approval = card.ask(data, this.#actions.schemaOf(data.toolName), (result) => {
      const asked = [questionId];
      // Who allows a tool always does not want to be asked again for what is open already.
      if (result.updatedPermissions)
        for (const [id, { toolName }] of this.#open)
          if (id !== questionId && toolName === data.toolName) asked.push(id);
      for (const id of asked) this.#actions.answer(id, id === questionId ? result : { behavior: "allow" });
    });
    this.#open.set(questionId, { card, approval, toolName: data.toolName });
  }

  #close(questionId: number): void {
    const question = this.#open.get(questionId);
    if (!question) return;
    const hadFocus = question.approval.element.contains(document.activeElement);
    question.card.answered();
    this.#open.delete(questionId);
    if (hadFocus && !this.review()) this.#actions.leave();
  }

  #sayStopped(stoppedBy: NonNullable<RunResult["stoppedBy"]>): void {
    const budget = budgetOf(stoppedBy);
    if (!budget) return this.#say(notice("warning", `The run was stopped (${stoppedBy}). Ask it to go on.`));
    this.#say(
      notice(
        "warning",
        `The budget of this run is used up: ${budgets[budget].label.toLowerCase()}.`,
        element(
          "p",
          { class: "quiet" },
          "What arrived stays in the conversation; the next run counts from zero.",
        ),
        actions(
          [`Go on with ${this.#actions.raised(budget)}`, () => this.#actions.goOn(budget)],
          ["Set the budgets", () => this.#actions.act("connection")],
        ),
      ),
    );
  }

  #sayHeldBack(): void {
    const what = this.#heldBack === 1 ? "one call was" : `${this.#heldBack} calls were`;
    this.#say(
      notice(
        "info",
        `Plan mode: ${what} held back, nothing was changed.`,
        actions(["Carry it out", () => this.#actions.carryOut()]),
      ),
    );
  }

  #sayFailure({ title, advice, details, action }: Explanation, isUnanswered: boolean): void {
    const label = { retry: "Try again", connection: "Open the connection", "new-chat": "New chat" };
    const rest = isUnanswered ? " The model does not see this prompt again unless you try it again." : "";
    const more = [element("p", { class: "quiet" }, advice + rest), element("pre", { tabindex: 0 }, details)];
    const buttons = action && action !== "retry" ? [action, "retry" as const] : ["retry" as const];
    const row = actions(...buttons.map((name) => [label[name], () => this.#actions.act(name)] as const));
    this.#say(notice("error", title, ...more, row));
  }

  #say(line: HTMLElement): void {
    this.#root.say(line);
  }

  get #root(): AgentView {
    const root = this.#agents.get("root") ?? new AgentView(() => this.#current());
    this.#agents.set("root", root);
    return root;
  }

  #current(): HTMLElement {
    if (!this.#section) {
      // Busy until it is whole: a screen reader reads the answer once, not word by word.
      this.#section = element("section", { class: "answer", "aria-label": "Answer", "aria-busy": "true" });
      this.#list.append(this.#section);
    }
    return this.#section;
  }

  #leaveSection(): void {
    this.#section?.setAttribute("aria-busy", "false");
    this.#section = undefined;
    this.#root.leaveCalls();
  }
}

function endOf({ abortReason }: Extract<RunResult, { outcome: "cancelled" }>): string {
  return abortReason === "stopped by the user"
    ? "You stopped the run."
    : `The run was stopped: ${abortReason}.`;
}

/** What stands in the place of the history that was cut off. */
function summaryOf({ messages }: RunResult): string | undefined {
  const [first] = messages[0]?.content ?? [];
  return first?.type === "text" ? /^\[Context summary: ([^]*)\]$/.exec(first.text)?.[1] : undefined;
}

function actions(...buttons: (readonly [label: string, click: () => void])[]): HTMLElement {
  return element(
    "p",
    { class: "actions" },
    ...buttons.map(([label, click]) => element("button", { type: "button", class: "small", click }, label)),
  );
}

function summary(name: string, result: RunResult, { used, isCostKnown }: Tally): HTMLElement {
  const { outcome, usage, finishReason, rawFinishReason } = result;
  const cache = usage?.cacheReadTokens ? ` (${tokens(usage.cacheReadTokens)} from cache)` : "";
  const reasoning = usage?.reasoningTokens ? ` (${tokens(usage.reasoningTokens)} reasoning)` : "";
  const facts = [
    counted(used.iterations, "iteration"),
    used.tool_calls ? counted(used.tool_calls, "tool call") : "",
    usage === null ? "tokens unknown" : `${counted(usage.inputTokens, "token")} in${cache}`,
    usage === null ? "" : `${tokens(usage.outputTokens)} out${reasoning}`,
    isCostKnown ? cost(used.usd) : "cost unknown",
    finishReason ? `finish: ${finishReason}` : "",
    duration(used.time * 1000),
  ].filter(Boolean);
  return element(
    "footer",
    { class: "summary", title: rawFinishReason ? `The vendor's word: ${rawFinishReason}` : undefined },
    element("span", {}, name),
    element("span", { class: `badge ${outcome}` }, outcome),
    ...facts.map((fact) => element("span", {}, fact)),
  );
}
