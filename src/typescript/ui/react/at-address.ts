/** The agent at an address, for components that pass a string. A page that passes none does not load this code. */
import { LoopletError } from "../../core/api/errors.js";
import type { ConversationAgent } from "../ui/index.js";
import type { RemoteAgent } from "../../server/workers/remote-agent.js";

const agents = new Map<string, ConversationAgent>();

/** The agent of `connectAgent(address)`, the same one for each component. */
export function agentAt(address: string): ConversationAgent {
  const agent = agents.get(address) ?? connectedLater(address);
  agents.set(address, agent);
  return agent;
}

/** It is connected when its first chat is opened. */
function connectedLater(address: string): ConversationAgent {
  const listeners = new Set<(isReconnecting: boolean) => void>();
  let connected: RemoteAgent | undefined;
  const agent = async (): Promise<RemoteAgent> => {
    const { connectAgent } = await import("../../server/workers/remote-agent.js");
    if (connected === undefined) {
      connected = connectAgent(address);
      connected.onReconnecting((isReconnecting) => listeners.forEach((listener) => listener(isReconnecting)));
    }
    return connected;
  };
  return {
    chat() {
      const problem = "is the id of a chat, which a server needs: useAgent(address, { id })";
      throw new LoopletError("config_missing", "id", problem);
    },
    openChat: async (...given) => (await agent()).openChat(...given),
    readChat: async (...given) => (await agent()).readChat(...given),
    bound: async (...given) => (await agent()).bound(...given),
    // Runs are those of a chat, which was opened before.
    attach: (id) => connected!.attach(id),
    onReconnecting(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
