/**
 * One conversation with the packaged library: owns the agent, its chat and the run that goes on. Knows nothing of the
 * page; tells a view what happens.
 */
import {
  createAgent,
  type Agent,
  type Chat,
  type Message,
  type Queued,
  type Run,
  type RunEvent,
  type RunResult,
} from "looplet";
import { demoTools, system } from "../../examples/tools/index.mjs";
import { modelOf, type Connection } from "./connection.js";

export type QueuedKind = "steer" | "follow-up";

/** Contract: synchronous; called in the order in which things happen. */
export interface ConversationView {
  started(prompt: string): void;
  happened(event: RunEvent): void;
  queued(kind: QueuedKind, text: string, queued: Queued): void;
  settled(result: RunResult): void;
  /** Something threw at once: the configuration or the call was wrong. */
  refused(error: unknown): void;
  cleared(): void;
}

export class Conversation {
  readonly #view: ConversationView;
  #agent: Agent;
  #chat: Chat;
  #run: Run | undefined;
  #last: { prompt: string; before: readonly Message[] } | undefined;

  constructor(view: ConversationView, connection: Connection, maxIterations: number) {
    this.#view = view;
    this.#agent = agentOf(connection, maxIterations);
    this.#chat = this.#agent.chat();
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /**
   * Goes on with another model; the transcript stays.
   *
   * @throws LoopletError `config_…`
   */
  connect(connection: Connection, maxIterations: number): void {
    this.#agent = agentOf(connection, maxIterations);
    if (!this.#run) this.#chat = this.#agent.chat({ messages: this.#chat.messages });
  }

  ask(prompt: string): void {
    if (this.#run) return this.tell("steer", prompt);
    this.#last = { prompt, before: this.#chat.messages };
    let run: Run;
    try {
      run = this.#chat.run(prompt);
    } catch (error) {
      return this.#view.refused(error);
    }
    this.#run = run;
    this.#view.started(prompt);
    void this.#follow(run);
  }

  /** Asks the last prompt again, on the transcript as it was before. */
  retry(): void {
    if (this.#run || !this.#last) return;
    this.#chat = this.#agent.chat({ messages: this.#last.before });
    this.ask(this.#last.prompt);
  }

  tell(kind: QueuedKind, text: string): void {
    if (!this.#run) return this.ask(text);
    const queued = kind === "steer" ? this.#run.steer(text) : this.#run.followUp(text);
    this.#view.queued(kind, text, queued);
  }

  stop(): void {
    this.#run?.abort("stopped by the user");
  }

  clear(): void {
    this.stop();
    this.#run = undefined;
    this.#last = undefined;
    this.#chat = this.#agent.chat();
    this.#view.cleared();
  }

  async #follow(run: Run): Promise<void> {
    for await (const event of run) {
      // After "new chat" a run may still have words to say: they belong to nobody.
      if (this.#run === run) this.#view.happened(event);
    }
    const result = await run.result;
    if (this.#run !== run) return;
    this.#run = undefined;
    this.#chat = this.#agent.chat({ messages: this.#chat.messages });
    this.#view.settled(result);
  }
}

function agentOf(connection: Connection, maxIterations: number): Agent {
  return createAgent({
    model: modelOf(connection),
    system,
    tools: demoTools({ storage: localStorage, readDocument }),
    maxIterations,
  });
}

async function readDocument(name: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`/docs/${name}`, { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}
