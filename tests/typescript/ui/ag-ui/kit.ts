/** Agents behind a handler, and the events that a page gets, each held against the schemas and rules of AG-UI. */
import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchema } from "@ag-ui/core/schemas";
import { anthropic, createAgent, type Agent, type AgentOptions } from "looplet";
import {
  agUiHandler,
  type AgUiOutcome,
  type AgUiEvent,
  type AgUiHandlerOptions,
  type AgUiInput,
} from "looplet/ag-ui";
import { scripted, type ScriptedStep } from "looplet/practice";
import { from, lastValueFrom } from "rxjs";
import { toArray } from "rxjs/operators";

export function agentOf(turns: readonly ScriptedStep[], options: Partial<AgentOptions<any>> = {}): Agent {
  const model = anthropic("m", { apiKey: "k", fetch: scripted(turns) });
  return createAgent({ model, ...options }) as Agent;
}

export const said = (text: string, id = "u1") => ({ id, role: "user" as const, content: text });

let runs = 0;

export function inputOf(input: Partial<AgUiInput> = {}): AgUiInput {
  return {
    threadId: "t",
    runId: `r${(runs += 1)}`,
    protocolVersion: "1.0",
    messages: [said("Hello")],
    tools: [],
    context: [],
    ...input,
  };
}

type Handler = ReturnType<typeof agUiHandler>;

export const handlerOf = (
  agent: Parameters<typeof agUiHandler>[0],
  options: Partial<AgUiHandlerOptions> = {},
) => agUiHandler(agent, { authorize: () => "ada", ...options });

export const requestOf = (input: unknown, init: RequestInit = {}): Request =>
  new Request("https://app.test/agent", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
    ...init,
  });

/** The events of a response, checked. */
export async function eventsOf(response: Response): Promise<AgUiEvent[]> {
  const text = await response.text();
  const blocks = text.split("\n\n").slice(0, -1);
  const events = blocks.map((block, at) => {
    const [id, data, ...rest] = block.split("\n");
    if (id !== `id: ${at + 1}` || rest.length > 0) throw new Error(`not a block: ${block}`);
    return JSON.parse(data!.slice("data: ".length)) as AgUiEvent;
  });
  return checked(events);
}

export async function post(handler: Handler, input: AgUiInput): Promise<AgUiEvent[]> {
  return eventsOf(await handler(requestOf(input)));
}

/** The events, if all fit the schemas of AG-UI and its rules of order. */
export async function checked(events: readonly AgUiEvent[]): Promise<AgUiEvent[]> {
  for (const event of events) {
    const parsed = EventSchema.safeParse(event);
    if (!parsed.success) throw new Error(`${JSON.stringify(event)}: ${parsed.error.message}`);
    // The schemas let unknown fields pass, and a client strips them with a warning.
    const unknown = Object.keys(event).filter((name) => !Object.hasOwn(fieldsOf(event.type), name));
    if (unknown.length > 0) throw new Error(`${event.type} has no ${unknown.join()}`);
  }
  const order = from(events as unknown as BaseEvent[]).pipe(verifyEvents(), toArray());
  await lastValueFrom(order);
  return [...events];
}

function fieldsOf(type: string): object {
  const schema = (EventSchema as any).options.find((one: any) => one.shape.type.value === type);
  return schema.shape as object;
}

export const typesOf = (events: readonly AgUiEvent[]): string[] => events.map(({ type }) => type);

export function ofType<T extends AgUiEvent["type"]>(events: readonly AgUiEvent[], type: T): Told<T>[] {
  return events.filter((event) => event.type === type) as Told<T>[];
}

type Told<T, E = AgUiEvent> = E extends { type: infer Types } ? (T extends Types ? E : never) : never;

export const endOf = (events: readonly AgUiEvent[]) =>
  ofType(events, "RUN_FINISHED").at(-1)! as Told<"RUN_FINISHED"> & { outcome: AgUiOutcome };
