import type { AgentTranscript } from "../../core/api/message.js";

/** The subagents that answer a call of the root, with those below them. Each of the `transcripts` once. */
export function agentsOf(transcripts: readonly AgentTranscript[]): (toolCallId: string) => AgentTranscript[] {
  const left = transcripts.filter(({ agentPath }) => agentPath !== "root");
  const take = (parent: string, toolCallId: string): AgentTranscript[] => {
    const at = left.findIndex(
      ({ agentPath, parentToolCallId }) =>
        parentToolCallId === toolCallId && agentPath.slice(0, agentPath.lastIndexOf("/")) === parent,
    );
    const [agent] = at < 0 ? [] : left.splice(at, 1);
    if (agent === undefined) return [];
    const calls = agent.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_call" ? [block.id] : [])),
    );
    return [agent, ...calls.flatMap((id) => take(agent.agentPath, id))];
  };
  return (toolCallId) => take("root", toolCallId);
}
