// Compiled with the types of Workers: the class of an agent is that of a Durable Object.
import { anthropic, createAgent, type Store } from "looplet";
import { AgentObject } from "looplet/cloudflare";

interface Env {
  SESSIONS: DurableObjectNamespace<Session>;
}

export class Session extends AgentObject<Env> {
  agent(store: Store) {
    return createAgent({ model: anthropic("m", { apiKey: "key" }), store });
  }
}

export const made: new (ctx: DurableObjectState, env: Env) => DurableObject = Session;

export default {
  fetch: (request, { SESSIONS }) => SESSIONS.getByName(new URL(request.url).pathname).fetch(request),
} satisfies ExportedHandler<Env>;
