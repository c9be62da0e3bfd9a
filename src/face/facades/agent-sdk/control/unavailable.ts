/** The methods of the SDK's `Query` that have no meaning here. Each rejects with the reason. */
const REASONS = {
  setMcpPermissionModeOverride: "rules for mcp__server in allowedTools and disallowedTools say it",
  applyFlagSettings: "give the settings as options, and use setModel and setPermissionMode meanwhile",
  updateSettings: "it writes no settings files",
  reloadPlugins: "there are no plugins",
  reloadSkills: "the settings files are read when a query begins; begin another one with resume",
  reloadOutputStyles: "there are no output styles",
  seedReadState: "Edit and Write do not ask for an earlier Read",
  backgroundTasks: "no command and no agent runs in the background",
  readMcpResource: "use connectMcp of looplet/mcp, whose client reads resources",
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET:
    "total_cost_usd of the result says what a turn has cost",
} as const;

export type UnavailableMethods = {
  readonly [method in keyof typeof REASONS]: (...args: never[]) => Promise<never>;
};

export const unavailable = Object.fromEntries(
  Object.entries(REASONS).map(([method, reason]) => [
    method,
    () => Promise.reject(new Error(`query: ${method} is not part of looplet/agent-sdk: ${reason}.`)),
  ]),
) as unknown as UnavailableMethods;
