/** A session of `query`: its turns, and what changes it meanwhile. */
import { randomUuid } from "../../extras/random-uuid.js";
import type { Chat, Model, Queued, Run, RunEvent, RunResult, SessionSource } from "../../core/api/index.js";
import type { PermissionMode } from "../../core/api/permission.js";
import { resolvePath } from "../../extras/vfs/paths.js";
import type { ModeOf } from "./agents/agents.js";
import { checkQueryMode, made, type Found, type Made, type Ongoing } from "./agent.js";
import { checkpointsOf, watched, type RewindFilesResult } from "./control/checkpoints.js";
import { contextUsage, type ContextUsage } from "./control/context-usage.js";
import { commandOf, commandsOf, filled, promptOf, textOf, type UserPrompt } from "./control/prompts.js";
import { Servers } from "./control/servers.js";
import { unsupportedHooks } from "./hooks/query-hooks.js";
import { supportedModels } from "./models.js";
import { joined } from "../../core/kit/check.js";
import { wrong } from "./options/check.js";
import { REPLAY, optionNotes, type PlainOptions } from "./options/options.js";
import { ruleNotes } from "./options/rule-notes.js";
import { toolNotes } from "./options/tools.js";
import { KeptSession } from "./sessions/kept-session.js";
import type { SessionKey } from "./sessions/sessions.js";
import { readSettings, type Settings } from "./settings.js";
import type { Vfs } from "../../extras/vfs/index.js";
import { ResumeRejected, rejected } from "./sessions/dropped-turn.js";
import { Turn, notStarted, type Unstamped } from "./turn.js";
import type { InitializationResult, SDKInitMessage, SDKMessage, SDKUserInput } from "./types.js";

export class Session {
  readonly #prompt: string | AsyncIterable<SDKUserInput>;
  readonly #options: PlainOptions;
  /** The files that have checkpoints. */
  readonly #files: Vfs | undefined;
  #made: Made;
  readonly #kept: KeptSession;
  #chat: Chat;
  #mode: PermissionMode;
  /** How the session starts. Undefined after it has started. */
  #beginning: SessionSource | "fork" | undefined = "startup";
  /** Whether a model call was made in the session. */
  #hasBegun = false;
  /** The text of the prompt under way. */
  #task = "";
  #saysUnpriced = true;
  /** The model that was chosen since the query began. */
  #model: Model | undefined;
  #run: Run | undefined;
  #turn: Turn | undefined;
  /** The runs of agents, by the ids of their calls, with the mode of each in a mode of the query. */
  readonly #tasks = new Map<string, { readonly run: Run; readonly modeOf: ModeOf }>();
  /** What the agents and the tools see of this session. */
  readonly #ongoing: Ongoing = {
    permissionMode: () => this.#mode,
    usdLeft: () => this.#usdLeft(),
    isShuttingDown: () => this.#isShuttingDown,
    sessionId: () => this.#kept.id,
    beginning: () => this.#beginning,
    task: () => this.#task,
    model: () => this.#model,
    modeChosen: (mode) => this.#modeChosen(mode),
    leavePlan: () => this.#leavePlan(),
    spent: (result) => this.#turn?.spent(result),
    saved: () => this.#saved(),
    tell: (message) => this.#tell({ uuid: this.#uuid(), ...message } as Unstamped),
    onBegin: (id, description, run, modeOf) => {
      this.#tasks.set(id, { run, modeOf });
      this.#tell(this.#turn?.beginTask(id, description));
    },
    onEvent: (event, id) => this.#tell(...(this.#turn?.takeOfTask(event, id) ?? [])),
    onEnd: (result, id) => {
      this.#tasks.delete(id);
      this.#tell(this.#turn?.endTask(result, id));
    },
  };
  #isClosed = false;
  #isShuttingDown = false;
  readonly servers: Servers;
  #settings: Settings | undefined;
  #maxThinkingTokens: number | undefined;
  /** Prompts that wait for their turn. */
  readonly #prompts: UserPrompt[] = [];
  /** Iterables that are not done. */
  #inputs = 0;
  /** Messages that the iteration has not yielded yet. */
  readonly #outbox: Unstamped[] = [];
  /** Wakes the iteration after a new message. */
  #wake = (): void => {};
  /** Prompts on their way into the run, by the ids of the engine. */
  readonly #steers = new Map<number, UserPrompt>();

  constructor(prompt: string | AsyncIterable<SDKUserInput>, given: PlainOptions) {
    const { host } = given;
    const vfs = given.enableFileCheckpointing === true ? host?.vfs : undefined;
    const options =
      vfs === undefined
        ? given
        : { ...given, host: { ...host, vfs: watched(vfs, () => checkpointsOf(vfs, this.#kept.id)) } };
    this.#prompt = prompt;
    this.#options = options;
    this.#files = vfs;
    this.servers = new Servers(options);
    this.#made = made(options, this.#ongoing);
    this.#mode = this.#made.permissionMode;
    const lost = (error: unknown, of: SessionKey) => this.#outbox.push(this.#mirrorError(error, of));
    this.#kept = new KeptSession(options, () => this.#uuid(), lost);
    this.#chat = this.#made.agent.chat();
  }

  async *messages(): AsyncGenerator<SDKMessage, void> {
    const { abortController } = this.#options;
    const abort = (): void => {
      this.#run?.abort("the abortController has fired");
      this.#wake();
    };
    abortController?.signal.addEventListener("abort", abort);
    try {
      const notes = await this.#prepare();
      const messages = await this.#kept.open().catch(rejected);
      if (messages instanceof ResumeRejected) {
        yield this.#init();
        yield this.#stamped(notStarted(this.#uuid(), messages.message));
        return;
      }
      if (messages.length > 0) this.#beginning = this.#options.forkSession ? "fork" : "resume";
      this.#chat = this.#made.agent.chat({ messages });
      yield this.#init();
      for (const note of notes) yield this.#stamped(this.#informational(note, "warning"));
      for (const message of this.#outbox.splice(0)) yield this.#stamped(message);
      const { verbatimPrompts: isVerbatim } = this.#options;
      const first = this.#beginning === "startup" ? (this.#made.initialPrompt ?? "") : "";
      if (typeof this.#prompt === "string")
        this.#say({ prompt: [first, this.#prompt].filter((text) => text !== "").join("\n\n"), isVerbatim });
      else if (first !== "") this.#say({ prompt: first });
      if (typeof this.#prompt !== "string") void this.streamInput(this.#prompt);
      for (;;) {
        const prompt = await this.#next();
        if (prompt === undefined) return;
        if (commandOf(prompt)?.name === "clear") {
          await this.#saved();
          this.#endSession("clear");
          this.#kept.clear();
          this.#beginning = "clear";
          this.#chat = this.#made.agent.chat();
          yield this.#init();
          continue;
        }
        if (this.servers.isOutdated) await this.#remake();
        yield* this.#take(this.#filled(prompt));
      }
    } finally {
      abortController?.signal.removeEventListener("abort", abort);
      this.close();
      if ((await this.#run?.result)?.iterations) this.#begun();
      await this.#saved();
      this.#endSession("close");
      await this.servers.close();
      await this.#kept.flush();
    }
  }

  async interrupt(): Promise<{ still_queued: string[] }> {
    this.#run?.abort("interrupted");
    await this.#run?.result;
    return { still_queued: this.#prompts.flatMap(({ uuid }) => uuid ?? []) };
  }

  async setPermissionMode(mode: PermissionMode): Promise<{ mode: PermissionMode }> {
    checkQueryMode(mode, this.#options);
    this.#run?.setPermissionMode(mode);
    this.#modeChosen(mode);
    return { mode };
  }

  async setModel(model: string | Model = this.#made.main): Promise<void> {
    this.#model = this.#made.modelOf(model, this.#maxThinkingTokens);
    this.#run?.setModel(this.#model);
    // The next turn counts with the window of this model.
    this.servers.isOutdated = true;
  }

  async setMaxThinkingTokens(tokens: number | null): Promise<void> {
    this.#maxThinkingTokens = tokens ?? 0;
    const model = this.#made.main;
    if (typeof model !== "string") wrong("setMaxThinkingTokens", "needs a query with a model given by name");
    await this.setModel(this.#model?.model ?? model);
  }

  supported(): InitializationResult {
    return {
      commands: commandsOf(this.#commands),
      agents: this.#made.agents.map(({ name, description }) => ({ name, description })),
      models: supportedModels(),
      account: {},
      output_style: "",
      available_output_styles: [],
    };
  }

  contextUsage(): ContextUsage {
    const { compaction } = this.#options;
    const { auto, threshold } = typeof compaction === "object" ? compaction : { auto: compaction };
    return contextUsage({
      ...this.#made.sent,
      model: (this.#model ?? this.#made.modelOf()).model,
      compacts: auto !== false && this.#made.sent.window !== undefined,
      threshold,
      agents: this.#made.agents,
      messages: this.#chat.messages,
      counted: this.#turn?.counted,
    });
  }

  async rewindFiles(uuid: string, isDry: boolean): Promise<RewindFilesResult> {
    if (this.#files !== undefined)
      return checkpointsOf(this.#files, this.#kept.id).rewind(this.#files, uuid, isDry);
    return { canRewind: false, error: "File rewinding needs enableFileCheckpointing and host.vfs." };
  }

  async stopTask(id: string): Promise<void> {
    this.#tasks.get(id)?.run.abort("stopped");
  }

  async shutdown(reason: string): Promise<void> {
    this.#isShuttingDown = true;
    this.#ongoing.tell({ type: "system", subtype: "worker_shutting_down", reason });
    await this.#run?.result;
    await this.#kept.flush();
  }

  async streamInput(input: AsyncIterable<SDKUserInput>): Promise<void> {
    this.#inputs += 1;
    try {
      for await (const message of input) {
        if (this.#isClosed) return;
        const { said, problems } = promptOf(message, this.#options.verbatimPrompts);
        for (const problem of problems) this.#tell(this.#informational(problem, "warning"));
        if (said !== undefined) this.#say(said);
      }
    } catch (error) {
      this.#outbox.push(this.#informational(`The input has failed: ${String(error)}`));
    } finally {
      this.#inputs -= 1;
      this.#wake();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#run?.abort("closed");
    this.#wake();
  }

  /** Reads the settings files and reaches the servers. Returns what does not count of all that was given. */
  async #prepare(): Promise<readonly string[]> {
    const notes = optionNotes(this.#options);
    const unsupported = unsupportedHooks(this.#options);
    if (unsupported.length > 0)
      notes.push(`The hooks of these events are never called here: ${unsupported.join(", ")}.`);
    const [settings] = await Promise.all([this.#readSettings(notes), this.servers.begin()]);
    const { reached, ofAgents } = this.servers;
    this.#settings = settings;
    const { agent } = this.#options;
    if (settings !== undefined || agent !== undefined || [...reached.tools, ...ofAgents.tools].length > 0) {
      this.#made = this.#madeWithFound();
      this.#mode = this.#made.permissionMode;
    }
    notes.push(...toolNotes(this.#options), ...ruleNotes(this.#options, this.#made, settings));
    return [
      ...notes,
      ...Object.entries({ ...ofAgents.errors, ...reached.errors }).map(
        ([name, why]) => `mcpServers.${name}: ${why}`,
      ),
    ];
  }

  #madeWithFound(): Made {
    const found: Found = {
      tools: this.servers.reached.tools,
      ofAgents: this.servers.ofAgents.tools,
      ...(this.#settings === undefined ? {} : { settings: this.#settings }),
    };
    return made(joined(this.#options, { mcpServers: this.servers.current }), this.#ongoing, found);
  }

  /** An agent with the current servers continues the conversation. */
  async #remake(): Promise<void> {
    this.servers.isOutdated = false;
    await this.servers.retire();
    this.#made = this.#madeWithFound();
    this.#chat = this.#made.agent.chat({ messages: this.#chat.messages });
  }

  async #readSettings(notes: string[]): Promise<Settings | undefined> {
    const { settingSources = [], cwd = "/", host = {}, trustProject } = this.#options;
    const { settings: inline, managedSettings } = this.#options;
    const isMissing = settingSources.length > 0 && host.vfs === undefined;
    if (isMissing) notes.push("settingSources: host.vfs is missing, so no files were read.");
    const sources = isMissing ? [] : settingSources;
    if (sources.length === 0 && inline === undefined && managedSettings === undefined) return undefined;
    const settings = await readSettings(sources, {
      vfs: host.vfs,
      cwd: resolvePath(cwd),
      home: host.home,
      trustProject,
      settings: inline,
      managedSettings,
    });
    notes.push(...settings.notes);
    return settings;
  }

  #usdLeft(): number | undefined {
    const { maxBudgetUsd } = this.#options;
    return maxBudgetUsd === undefined ? undefined : maxBudgetUsd - (this.#turn?.spentUsd ?? 0);
  }

  #init(): SDKInitMessage {
    const { cwd = "/", betas, effort } = this.#options;
    return this.#stamped({
      type: "system",
      subtype: "init",
      uuid: this.#uuid(),
      tools: this.#made.toolNames,
      mcp_servers: this.servers.reached.statuses,
      model: (this.#model ?? this.#made.modelOf()).model,
      permissionMode: this.#mode,
      slash_commands: commandsOf(this.#commands).map(({ name }) => name),
      agents: this.#made.agents.map(({ name }) => name),
      skills: this.#made.skills,
      plugins: [],
      cwd,
      apiKeySource: "none",
      output_style: "",
      claude_code_version: "",
      ...(betas && { betas: [...betas] }),
      ...(effort && { effort }),
    }) as SDKInitMessage;
  }

  /** The next prompt. Undefined if there will be no more. */
  async #next(): Promise<UserPrompt | undefined> {
    while (!this.#isClosed && !this.#isShuttingDown && !this.#options.abortController?.signal.aborted) {
      const prompt = this.#prompts.shift();
      if (prompt !== undefined || this.#inputs === 0) return prompt;
      await this.#news();
    }
    // A query that was aborted before its first turn still has a result.
    return this.#isClosed || this.#isShuttingDown ? undefined : this.#prompts.shift();
  }

  #news(): Promise<void> {
    return new Promise((wake) => (this.#wake = wake));
  }

  async *#take(said: UserPrompt): AsyncGenerator<SDKMessage, void> {
    const { includePartialMessages = false, forwardSubagentText = false } = this.#options;
    const { abortController, outputFormat } = this.#options;
    const repeatsPrompt =
      typeof this.#prompt !== "string" || Object.hasOwn(this.#options.extraArgs ?? {}, REPLAY);
    const uuid = (): string => this.#uuid();
    const promptUuid = said.uuid;
    const telling = { includePartialMessages, forwardSubagentText, repeatsPrompt, promptUuid };
    const turn = new Turn({ ...telling, uuid, now: () => this.#kept.now() });
    this.#turn = turn;
    this.#task = textOf(said);
    const tell = (messages: readonly Unstamped[]): void => {
      this.#keep(turn);
      this.#tell(...messages);
    };
    const signal = abortController?.signal;
    const options = {
      onEvent: (event: RunEvent) => tell(turn.take(event)),
      ...(signal === undefined ? {} : { signal }),
    };
    const command = commandOf(said);
    const run =
      command === undefined
        ? this.#chat.run(said.prompt, options)
        : this.#chat.compact({ ...options, instructions: command.text });
    this.#run = run;
    if (this.#mode !== this.#made.permissionMode) run.setPermissionMode(this.#mode);
    if (this.#model !== undefined) run.setModel(this.#model);
    let result: RunResult | undefined;
    void run.result.then((settled) => {
      result = settled;
      tell(turn.rest(settled));
    });
    while (result === undefined || this.#outbox.length > 0) {
      const message = this.#outbox.shift();
      if (message !== undefined) yield this.#stamped(message);
      else await this.#news();
    }
    this.#run = undefined;
    if (result.iterations > 0) this.#begun();
    const late = result.undelivered.map((id) => this.#steers.get(id));
    this.#prompts.unshift(...late.filter((one) => one !== undefined));
    this.#steers.clear();
    if (command !== undefined && !turn.isCompacted && result.outcome === "completed")
      yield this.#stamped(this.#informational("The session is too short to be summarised."));
    if (turn.isCompacted) this.#kept.compacted(result.messages);
    yield* this.#unpriced(turn.unpriced(result));
    yield this.#stamped(
      turn.result(result, outputFormat !== undefined, (this.#usdLeft() ?? 1) <= 0),
    ) as SDKMessage;
    // The result does not wait for the store.
    await this.#kept.flush();
    for (const message of this.#outbox.splice(0)) yield this.#stamped(message);
  }

  #tell(...messages: readonly (Unstamped | undefined)[]): void {
    this.#outbox.push(...messages.filter((message) => message !== undefined));
    this.#wake();
  }

  /** A message of the user: for the run under way, or for the next one. */
  #say(said: UserPrompt): void {
    if (textOf(said).trim() === "" && typeof said.prompt === "string") {
      this.#tell(this.#informational("A prompt without text is left out.", "warning"));
      return;
    }
    const run = this.#run;
    const isInTurn = run !== undefined && run.outcome === undefined && this.#prompts.length === 0;
    if (!isInTurn || commandOf(said) !== undefined) {
      this.#prompts.push(said);
      this.#wake();
    } else {
      const queued: Queued = run.steer(this.#filled(said).prompt);
      this.#steers.set(queued.id, said);
    }
  }

  /** The prompt with the text of a command's file. A warning names a command that does not exist. */
  #filled(prompt: UserPrompt): UserPrompt {
    const { said, problem } = filled(prompt, this.#commands);
    if (problem !== undefined) this.#tell(this.#informational(problem, "warning"));
    return said;
  }

  get #commands(): Settings["commands"] {
    return this.#settings?.commands ?? [];
  }

  /** Saves the new messages in the session, and starts a checkpoint at each message of the user. */
  #keep(turn: Turn): void {
    const messages = turn.takeUnsaved();
    this.#kept.save(messages);
    for (const [id, ofAgent] of turn.takeUnsavedOf()) this.#kept.saveOf(id, ofAgent);
    if (this.#files === undefined) return;
    for (const { uuid, message } of messages)
      if (message.role === "user") checkpointsOf(this.#files, this.#kept.id).begin(uuid);
  }

  /** A hook may read the session. It waits for a slow store for a few seconds only. */
  async #saved(): Promise<void> {
    if (this.#turn !== undefined) this.#keep(this.#turn);
    await this.#kept.flushForHook();
  }

  #modeChosen(mode: PermissionMode): void {
    for (const { run, modeOf } of this.#tasks.values()) run.setPermissionMode(modeOf(mode));
    this.#mode = mode;
  }

  /** An answer to the question about the plan may have chosen the mode already. */
  #leavePlan(): void {
    if (this.#mode === "plan") void this.setPermissionMode("default");
  }

  #begun(): void {
    this.#beginning = undefined;
    this.#hasBegun = true;
  }

  #endSession(reason: "clear" | "close"): void {
    if (this.#hasBegun) this.#made.endSession(reason);
    this.#hasBegun = false;
  }

  *#unpriced(models: readonly string[]): Generator<SDKMessage> {
    if (models.length === 0 || !this.#saysUnpriced) return;
    this.#saysUnpriced = false;
    const words = `The price of ${models.join(", ")} is not known, so total_cost_usd does not count it. Give host.model a model with a price.`;
    yield this.#stamped(this.#informational(words, "warning"));
  }

  #mirrorError(cause: unknown, key: SessionKey): Unstamped {
    const error = cause instanceof Error ? cause.message : String(cause);
    return { type: "system", subtype: "mirror_error", uuid: this.#uuid(), error, key };
  }

  #informational(content: string, level: "info" | "warning" = "info"): Unstamped {
    return { type: "system", subtype: "informational", uuid: this.#uuid(), content, level };
  }

  #stamped(message: object): SDKMessage {
    return { ...message, session_id: this.#kept.id } as SDKMessage;
  }

  #uuid(): string {
    return this.#options.host?.ids?.() ?? randomUuid();
  }
}
