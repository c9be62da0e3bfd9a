/**
 * Names that other libraries have. They are here so that TypeScript's message about one of them says what to write:
 * `Type 'number' is not assignable to type 'WriteInstead<"limits: { maxIterations }">'`. At run time each is an error
 * with the same words.
 */
declare const instead: unique symbol;

/** The type of a name that does not exist here. `Text` is what to write instead. No value has this type. */
export interface WriteInstead<Text extends string> {
  readonly [instead]: Text;
}

/** Fields that do not exist, each with what to write instead. */
type Instead<Names extends { [name: string]: string }> = {
  readonly [N in keyof Names]?: WriteInstead<Names[N]> | undefined;
};

/** Names that the options of an agent and of a run do not have. */
type ForBoth = {
  maxSteps: "limits: { maxIterations } of createAgent";
  maxTurns: "limits: { maxToolRounds } of createAgent";
  maxTokens: "maxOutputTokens of createAgent";
  temperature: "temperature of the model: anthropic(name, { temperature })";
};

/** Names for the options of `createAgent`. */
export type NotOfAgent = Instead<
  ForBoth & {
    max_tokens: "maxOutputTokens";
    instructions: "system";
    systemPrompt: "system";
    prompt: "agent.run(prompt)";
    apiKey: "apiKey of the model: anthropic(name, { apiKey })";
    toolChoice: "toolChoice of the model: anthropic(name, { toolChoice })";
    prepareStep: "prepareIteration";
    onStepFinish: "onIterationEnd";
    onFinish: "await run.result";
    stopWhen: "limits: { stopWhen }";
    outputType: "output: { schema }";
    outputSchema: "output: { schema }";
    responseFormat: "output: { schema }";
    handoffs: "tools: { name: handoff(agent, { description }) }";
    canUseTool: "permissions: { canUseTool }";
    permissionMode: "permissions: { mode }";
    allowedTools: "permissions: { allow }";
    maxBudgetUsd: "limits: { maxUsd }";
    checkpointer: "store, and agent.openChat(id)";
  }
>;

/** Names for the options of `agent.run`. */
export type NotOfRun = Instead<
  ForBoth & {
    abortSignal: "signal";
    onTextDelta: "onText";
    stream: "onText, or for await (const event of run)";
    sessionId: "agent.openChat(id)";
    threadId: "agent.openChat(id)";
  }
>;

/** Names for the fields of `tool()`. */
export type NotOfTool = Instead<{
  parameters: "inputSchema";
  schema: "inputSchema";
  input_schema: "inputSchema";
  handler: "execute";
  run: "execute";
  func: "execute";
}>;

/** Names for the options of a model. */
export type NotOfModel = Instead<{
  maxTokens: "maxOutputTokens";
  max_tokens: "maxOutputTokens";
  reasoningEffort: "effort";
  stop: "stopSequences";
  defaultHeaders: "headers";
  maxRetries: "retry: { maxRetries } of createAgent";
  timeout: "timeouts of createAgent";
}>;

/** Names for the methods of an agent. */
export type NotAMethodOfAgent = Instead<{
  sendMessage: "agent.run(prompt), or run(prompt) of agent.chat()";
  generate: "await agent.run(prompt).result";
  stream: "agent.run(prompt)";
  invoke: "await agent.run(prompt).result";
}>;

/** Names for the methods of a chat. */
export type NotAMethodOfChat = Instead<{
  sendMessage: "chat.run(prompt)";
  send: "chat.run(prompt)";
}>;
