/** An agent with tools, an approval and a subagent, and a conversation whose frames a test draws. */
import {
  anthropic,
  createAgent,
  subagent,
  tool,
  type Agent,
  type AgentOptions,
  type RunEvent,
} from "looplet";
import { scripted, type ScriptedStep } from "looplet/practice";
import {
  conversation,
  type Conversation,
  type ConversationAgent,
  type ConversationOptions,
  type ConversationSnapshot,
  type UiPart,
  type UiMessage,
} from "looplet/ui";

export function agentOf(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}): Agent {
  const answers = scripted([...steps]);
  // Behind its first task a run gives late readers a snapshot.
  const fetch = async (...request: Parameters<typeof answers>): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    return answers(...request) as Promise<Response>;
  };
  const model = anthropic("m", { fetch: fetch as never, apiKey: "k" });
  const acts = (name: string, more: object = {}) =>
    tool({
      description: name,
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      ...more,
      execute: ({ n }) => ({ name, n }),
    });
  const tools = {
    read: acts("read", { readOnly: true }),
    pay: acts("pay", { needsApproval: true, replay: "safe" }),
    fail: tool({
      description: "fail",
      inputSchema: { type: "object" },
      execute: () => {
        throw new Error("no paper");
      },
    }),
    helper: subagent({ description: "helps", tools: { dig: acts("dig", { readOnly: true }) } }),
  };
  return createAgent({ model, tools, retry: { delaysMs: [0] }, ...options });
}

/** A conversation that draws when `draw` is called. */
export class Screen {
  readonly conversation: Conversation;
  readonly drawn: ConversationSnapshot[] = [];
  #updates: (() => void)[] = [];
  #leave: () => void;

  constructor(agent: ConversationAgent, options: ConversationOptions = {}) {
    this.conversation = conversation(agent, { frame: (update) => this.#updates.push(update), ...options });
    this.#leave = this.conversation.subscribe(() => this.drawn.push(this.now));
  }

  get now(): ConversationSnapshot {
    return this.conversation.getSnapshot();
  }

  draw(): void {
    for (const update of this.#updates.splice(0)) update();
  }

  leave(): void {
    this.#leave();
  }

  /** Draws until the conversation looks like that. */
  async until(isThere: (snapshot: ConversationSnapshot) => boolean): Promise<ConversationSnapshot> {
    for (let tries = 0; tries < 2000; tries++) {
      this.draw();
      if (isThere(this.now)) return this.now;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    throw new Error(`it stays ${JSON.stringify(this.now, null, 1)}`);
  }

  /** Draws until nothing goes on. */
  async rest(): Promise<ConversationSnapshot> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    return this.until(({ status }) => status === "ready" || status === "error");
  }
}

/** A message in one line, without what only a screen knows. */
export function lines(messages: readonly UiMessage[]): string[] {
  return messages.map(({ role, parts }) => `${role}: ${parts.map(line).join(" | ")}`);
}

function line(part: UiPart): string {
  switch (part.type) {
    case "text":
      return part.state === "done" ? part.text : `${part.text}…`;
    case "reasoning":
      return `(${part.text})`;
    case "tool": {
      const { toolName, state, output, error, agent } = part;
      const end = output === undefined ? (error?.code ?? "") : JSON.stringify(output);
      const below = agent === undefined ? "" : ` [${agent.status}: ${agent.parts.map(line).join(" | ")}]`;
      return `${toolName} ${state} ${end}${below}`.trim();
    }
    default:
      return part.type;
  }
}

/** The events of a run. */
export async function eventsOf(agent: Agent, prompt: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await agent.run(prompt, { onEvent: (event) => void events.push(structuredClone(event)) }).result;
  return events;
}
