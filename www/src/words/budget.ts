/** The budgets of one run: their names, the allowed input, and how amounts of them are formatted. */
import type { AgentOptions, StoppedBy } from "looplet";
import { brief, cost, counted } from "./amount.js";

interface Budget {
  label: string;
  /** The label in the settings, which must include the unit. */
  field?: string;
  /** The option of `createAgent` that it becomes. */
  option: string;
  isWhole: boolean;
  initial: number;
  /** "2 / 12", in little room. */
  show(used: number, limit: number): string;
  /** An amount in a sentence: "24 iterations". */
  describe(amount: number): string;
}

const whole = (noun: string): Pick<Budget, "isWhole" | "show" | "describe"> => ({
  isWhole: true,
  show: (used, limit) => `${brief(used)} / ${brief(limit)}`,
  describe: (amount) => counted(amount, noun),
});

/** In the words of `stoppedBy`. */
export const budgets = {
  iterations: {
    label: "Iterations",
    option: "maxIterations",
    initial: 12,
    ...whole("iteration"),
  },
  tool_rounds: { label: "Tool rounds", option: "maxToolRounds", initial: 8, ...whole("tool round") },
  tool_calls: { label: "Tool calls", option: "maxToolCalls", initial: 24, ...whole("tool call") },
  tokens: { label: "Tokens", option: "maxTotalTokens", initial: 60_000, ...whole("token") },
  usd: {
    label: "Cost",
    field: "US dollars",
    option: "maxUsd",
    isWhole: false,
    initial: 0.25,
    show: (used, limit) => `${cost(used)} / ${cost(limit)}`,
    describe: cost,
  },
  time: {
    label: "Time",
    field: "Seconds",
    option: "timeouts.totalMs",
    isWhole: false,
    initial: 900,
    show: (used, limit) => `${clock(used)} / ${clock(limit)}`,
    describe: (amount) => `${plain(amount)} ${amount === 1 ? "second" : "seconds"}`,
  },
} as const satisfies Partial<Record<StoppedBy, Budget>>;

export type BudgetName = keyof typeof budgets;

/** What one run may use; a budget that is not there has no end. */
export type Limits = Partial<Record<BudgetName, number>>;

export const budgetNames = Object.keys(budgets) as BudgetName[];

/** The title of a budget where it is typed. */
export function fieldOf(name: BudgetName): string {
  const budget: Budget = budgets[name];
  return budget.field ?? budget.label;
}

export const initialLimits: Limits = Object.fromEntries(
  budgetNames.map((name) => [name, budgets[name].initial]),
);

/** Without the noise of binary fractions. */
function plain(amount: number): string {
  return String(Number(amount.toPrecision(6)));
}

/** Seconds as "0:42" or "3:07". */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** The budget that the user typed. An empty field is none. `problem` says what to type. */
export function readBudget(
  name: BudgetName,
  text: string,
): { value: number | undefined; problem?: undefined } | { problem: string } {
  if (text === "") return { value: undefined };
  const { option, isWhole } = budgets[name];
  const value = Number(text);
  const isFine = Number.isFinite(value) && value > 0 && (!isWhole || Number.isSafeInteger(value));
  if (isFine) return { value };
  const wanted = isWhole ? "a whole number of at least 1" : "a number above 0";
  return { problem: `${fieldOf(name)} (${option}): enter ${wanted}, or leave it empty for no limit.` };
}

/** The limits as options of `createAgent`. */
export function optionsOf(limits: Limits): Partial<AgentOptions> {
  const { iterations, tool_rounds, tool_calls, tokens: total, usd, time } = limits;
  return {
    limits: {
      // Without this option looplet stops after 50.
      maxIterations: iterations ?? 1_000_000,
      maxToolRounds: tool_rounds,
      maxToolCalls: tool_calls,
      maxTotalTokens: total,
      maxUsd: usd,
      // A model without a known price is marked in the bar.
      allowUnknownPrice: true,
    },
    timeouts: time === undefined ? {} : { totalMs: Math.ceil(time * 1000) },
  };
}

/** The budget that ended a run, if one did. */
export function budgetOf(stoppedBy: StoppedBy): BudgetName | undefined {
  return budgetNames.find((name) => name === stoppedBy);
}
