/**
 * What one run puts into the transcript, in the order of its events: reasoning, text, tool cards, retries, and a last
 * line with what it cost. Blocks are found by iteration, attempt and number; a `reset` takes those of an attempt back.
 */
import type { PermissionResult, RunEvent, RunEventOf, RunResult } from "looplet";
import { cost, duration, tokens } from "./amount.js";
import type { Approval } from "./approval.js";
import { budgetOf, budgets, type BudgetName } from "./budget.js";
import { element } from "./element.js";
import { explain, type Explanation } from "./failure.js";
import { drawNow } from "./frame.js";
import { Markdown } from "./markdown.js";
import { notice } from "./notice.js";
import { heldBack } from "./permission.js";
import { Reasoning } from "./reasoning.js";
import { ToolCard } from "./tool-card.js";

type BlockView = Markdown | Reasoning | ToolCard;

/** Contract: what a person does to a run from inside the transcript. */
export interface AnswerActions {
  act(action: NonNullable<Explanation["action"]>): void;
  /** Goes on with more of the budget that was used up. */
  goOn(budget: BudgetName): void;
  /** What the budget would become. */
  raised(budget: BudgetName): string;
  answer(questionId: number, result: PermissionResult): void;
  /** The keyboard was on something that is gone. */
  leave(): void;
  /** Does what plan mode held back. */
  carryOut(): void;
}

interface OpenQuestion {
  card: ToolCard;
  approval: Approval;
  toolName: string;
}

export class Answer {
  readonly #list: HTMLElement;
  readonly #actions: AnswerActions;
  readonly #open = new Map<number, OpenQuestion>();
  #heldBack = 0;
  readonly #blocks = new Map<string, BlockView>();
  readonly #cards = new Map<string, ToolCard>();
  readonly #startedMs = performance.now();
  #section: HTMLElement | undefined;
  #calls: HTMLElement | undefined;

  constructor(list: HTMLElement, actions: AnswerActions) {
    this.#list = list;
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
    switch (event.type) {
      case "iteration-start":
        this.#calls = undefined;
        return;
      case "text-start":
        return this.#begin(event, new Markdown());
      case "reasoning-start":
        return this.#begin(event, new Reasoning());
      case "tool-input-start":
        return this.#beginCall(event);
      case "text-delta":
      case "reasoning-delta":
        return (this.#blockOf(event) as Markdown | Reasoning | undefined)?.append(event.text);
      case "tool-input-delta":
        return (this.#blockOf(event) as ToolCard | undefined)?.write(event.text);
      case "reasoning-end":
        return (this.#blockOf(event) as Reasoning | undefined)?.end();
      case "tool-call":
        return this.#cardOf(event).call(event.input);
      case "question":
        return this.#ask(event);
      case "answered":
        return this.#close(event.questionId);
      case "tool-progress":
        return this.#cardOf(event).report(event.data);
      case "tool-result":
        return this.#cardOf(event).succeed(event);
      case "tool-error":
        if (event.error.code === "denied" && event.error.message.startsWith(heldBack)) this.#heldBack += 1;
        return this.#cardOf(event).fail(event);
      case "reset":
        return this.#takeBack(event);
      case "retry":
        return this.#say(
          notice(
            "warning",
            `${explain(event.error).title}. Trying again in ${duration(event.delayMs)} (attempt ${event.nextAttempt} of ${event.maxAttempts}).`,
          ),
        );
      case "warning":
        return this.#say(notice("warning", event.message));
    }
  }

  /** A message of the user that has become part of the transcript. */
  heard(bubble: HTMLElement): void {
    this.#leaveSection();
    this.#list.append(bubble);
  }

  settle(result: RunResult): void {
    for (const card of this.#cards.values()) card.close();
    this.#open.clear();
    for (const block of this.#blocks.values()) if (block instanceof Reasoning) block.end();
    drawNow();
    if (result.error) this.#sayFailure(explain(result.error));
    else if (result.outcome === "cancelled")
      this.#say(notice("info", "You stopped the run. What arrived stays in the conversation."));
    else if (result.outcome === "stopped") this.#sayStopped(result.stoppedBy);
    else if (this.#heldBack > 0) this.#sayHeldBack();
    this.#current().append(summary(result, performance.now() - this.#startedMs));
    this.#leaveSection();
  }

  #ask({ questionId, data }: RunEventOf<"question">): void {
    if (!data) return;
    const card = this.#cardOf(data);
    const approval = card.ask(data, (result) => {
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

  #sayFailure({ title, advice, details, action }: Explanation): void {
    const label = { retry: "Try again", connection: "Open the connection", "new-chat": "New chat" };
    const more = [element("p", { class: "quiet" }, advice), element("pre", { tabindex: 0 }, details)];
    const buttons = action && action !== "retry" ? [action, "retry" as const] : ["retry" as const];
    const row = actions(...buttons.map((name) => [label[name], () => this.#actions.act(name)] as const));
    this.#say(notice("error", title, ...more, row));
  }

  #begin(event: { iteration: number; attempt: number; block: number }, view: Markdown | Reasoning): void {
    this.#blocks.set(keyOf(event, event.block), view);
    this.#calls = undefined;
    this.#current().append(view.element);
  }

  #beginCall(event: RunEventOf<"tool-input-start">): void {
    const card = this.#addCard(event.toolCallId, event.toolName);
    this.#blocks.set(keyOf(event, event.block), card);
  }

  // An answer that was not streamed has calls without their beginnings.
  #cardOf({ toolCallId, toolName }: { toolCallId: string; toolName: string }): ToolCard {
    return this.#cards.get(toolCallId) ?? this.#addCard(toolCallId, toolName);
  }

  #addCard(toolCallId: string, toolName: string): ToolCard {
    const card = new ToolCard(toolName);
    this.#cards.set(toolCallId, card);
    if (!this.#calls) {
      this.#calls = element("div", { class: "calls" });
      this.#current().append(this.#calls);
    }
    this.#calls.append(card.element);
    return card;
  }

  #takeBack(event: RunEventOf<"reset">): void {
    for (const block of event.blocks) {
      const key = keyOf(event, block);
      const view = this.#blocks.get(key);
      view?.element.remove();
      this.#blocks.delete(key);
      for (const [id, card] of this.#cards) if (card === view) this.#cards.delete(id);
    }
    if (this.#calls?.childElementCount === 0) this.#calls.remove();
    this.#calls = undefined;
  }

  #blockOf(event: { iteration: number; attempt: number; block: number }): BlockView | undefined {
    return this.#blocks.get(keyOf(event, event.block));
  }

  #say(line: HTMLElement): void {
    this.#calls = undefined;
    this.#current().append(line);
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
    this.#calls = undefined;
  }
}

const keyOf = ({ iteration, attempt }: { iteration: number; attempt: number }, block: number) =>
  `${iteration}.${attempt}.${block}`;

function actions(...buttons: (readonly [label: string, click: () => void])[]): HTMLElement {
  return element(
    "p",
    { class: "actions" },
    ...buttons.map(([label, click]) => element("button", { type: "button", class: "small", click }, label)),
  );
}

function summary(
  { outcome, iterations, usage, costNanoUsd, finishReason, rawFinishReason, toolCalls }: RunResult,
  tookMs: number,
) {
  const cache = usage.cacheReadTokens ? ` (${tokens(usage.cacheReadTokens)} from cache)` : "";
  const reasoning = usage.reasoningTokens ? ` (${tokens(usage.reasoningTokens)} reasoning)` : "";
  const facts = [
    `${iterations} ${iterations === 1 ? "iteration" : "iterations"}`,
    toolCalls.length ? `${toolCalls.length} tool ${toolCalls.length === 1 ? "call" : "calls"}` : "",
    `${tokens(usage.inputTokens)} tokens in${cache}`,
    `${tokens(usage.outputTokens)} out${reasoning}`,
    cost(costNanoUsd),
    finishReason ? `finish: ${finishReason}` : "",
    duration(tookMs),
  ].filter(Boolean);
  return element(
    "footer",
    { class: "summary", title: rawFinishReason ? `The vendor's word: ${rawFinishReason}` : undefined },
    element("span", { class: `badge ${outcome}` }, outcome),
    ...facts.map((fact) => element("span", {}, fact)),
  );
}
