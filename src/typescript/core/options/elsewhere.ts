/** What options and methods of other libraries are called here. `peer-names.ts` has the words of TypeScript. */

/** Option names of other libraries, each with looplet's name. */
export const KNOWN_ELSEWHERE: { readonly [name: string]: string } = {
  maxTokens:
    "use maxOutputTokens (tokens of one answer) or limits: { maxTotalTokens } (input plus output of the whole run)",
  max_turns:
    "use limits: { maxToolRounds } (answers with tool calls) or { maxIterations } (model calls of one run)",
  recursionLimit: "use limits: { maxIterations } (model calls of one run)",
  permissionMode: "use permissions: { mode }",
  contextWindow: "use context: { window }",
  maxStructuredOutputRetries: "use output: { maxRetries }",
  prepareStep: "use prepareIteration",
  activeTools: "use prepareIteration, which may return { tools }",
  tool_choice: "give it to the model: anthropic(name, { toolChoice })",
  toolUseBehavior: "use limits: { stopWhen: hasToolCall(name) }",
  maxSteps:
    "use limits: { maxIterations } (model calls of one run) or { maxToolRounds } (answers with tool calls)",
  maxTurns:
    "use limits: { maxToolRounds } (answers with tool calls) or { maxIterations } (model calls of one run)",
  systemPrompt: "use system",
  instructions:
    "use system, the system prompt of one agent; text for every agent of the run, subagents too, is sharedInstructions",
  prompt: "give it to agent.run(prompt)",
  parameters: "use inputSchema",
  schema: "use inputSchema",
  input_schema: "use inputSchema",
  handler: "use execute",
  run: "use execute",
  func: "use execute",
  response_format: "use responseFormat: { schema }",
  outputSchema: "use output: { schema }",
  outputFormat: "use output: { schema }",
  cacheControl: "use promptCaching",
  max_tokens: "use maxOutputTokens",
  maxCalls:
    "use retry: { maxModelCallRetries } for retries of a model call; a tool's maxCalls belongs to the tool",
  maxLlmRetries: "use retry: { maxModelCallRetries }",
  tokenBudget: "use limits: { maxTotalTokens } (input plus output of the whole run)",
  maxBudgetUsd: "use limits: { maxUsd }",
  maxCost: "use limits: { maxUsd }",
  allowedTools: "use permissions: { allow: [...] }",
  disallowedTools: "use permissions: { deny: [...] }",
  agents: "give each to tools: { name: subagent({ … }) }",
  preset: "use mergeOptions of looplet/presets: createAgent(mergeOptions(presets.sprout.agent, { … }))",
  traceSink: "use trace: traceRows(sink), of looplet/trace",
  tracers: "use trace, a list of tracers",
  tracer: "use trace",
  abortSignal: "use signal, an option of agent.run(prompt, { signal })",
  maxRetries: "use retry: { maxRetries } of createAgent",
  timeout: "use timeouts of createAgent",
  providerOptions: "give the vendor's fields to the model: body: { … }",
  modelSettings: "give each to the model: anthropic(name, { … })",
  defaultHeaders: "use headers",
  mcpServers: "make tools of theirs, as docs/tasks/mcp.md shows",
  handoffs: "give each to tools: { name: handoff(agent, { description }) }",
  inputGuardrails: "use guardrails: { input }",
  outputGuardrails: "use guardrails: { output }",
  outputType: "use output: { schema }",
  middleware: "use hooks, guardrails or prepareIteration",
  checkpointer: "use store, and agent.openChat(id)",
  onStepFinish: "use onIterationEnd",
  onTextDelta: "use onText",
  reasoningEffort: "use effort",
  onStepEnd: "use onIterationEnd",
  onFinish: "await run.result",
  telemetry: "use trace",
};

/** The names for `agent.chat`, which takes no id. */
export const CHAT_ELSEWHERE: typeof KNOWN_ELSEWHERE = {
  ...KNOWN_ELSEWHERE,
  id: "a chat with an id is kept in a store: await agent.openChat(id)",
};
