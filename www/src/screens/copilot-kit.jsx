/** CopilotKit, by AG-UI: the agent in the page is an agent of `@ag-ui/client`. */
import { HttpAgent } from "@ag-ui/client";
import { CopilotChat, CopilotKitProvider } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { agUiAgent } from "looplet/ag-ui";
import { useEffect, useState } from "react";

const config = { agentId: "default", threadId: "screens" };

export function CopilotKit({ hub }) {
  const [{ agent, join, leave }] = useState(() => {
    const seat = hub.seat((going) => join(going));
    // A run that others began is joined, and not begun again.
    const joined = () => ({ ...seat.agent, run: seat.joined });
    const agentOf = ({ input }) => (input.forwardedProps?.join ? joined() : seat.agent);
    const agent = agUiAgent(agentOf, {
      HttpAgent,
      config,
      keepRunning: true,
    });
    const join = async ({ before, prompt }) => {
      agent.setMessages(agUiMessages([...before, { role: "user", content: prompt }]));
      await agent.runAgent({ forwardedProps: { join: true } });
    };
    return { agent, join, leave: seat.leave };
  });
  useEffect(() => {
    if (hub.going) void join(hub.going);
    else agent.setMessages(agUiMessages(hub.messages));
    return leave;
  }, []);
  return (
    <CopilotKitProvider agents__unsafe_dev_only={{ default: agent }}>
      {/* Without a thread of its own: the chat of a thread is emptied when it is shown. */}
      <CopilotChat agentId={config.agentId} />
    </CopilotKitProvider>
  );
}

/** A transcript as messages of AG-UI. */
function agUiMessages(transcript) {
  return transcript.flatMap(({ role, content }, at) => {
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const results = content.filter(({ type }) => type === "tool_result");
    const toolCalls = content.flatMap((block) =>
      block.type === "tool_call"
        ? [
            {
              id: block.id,
              type: "function",
              function: { name: block.name, arguments: JSON.stringify(block.input) },
            },
          ]
        : [],
    );
    const said = { id: `m${at}`, role, content: text, ...(toolCalls.length > 0 && { toolCalls }) };
    return [
      ...results.map(({ callId, content: [block] }) => ({
        id: `r${callId}`,
        role: "tool",
        toolCallId: callId,
        content: block?.text ?? "",
      })),
      ...(text !== "" || toolCalls.length > 0 ? [said] : []),
    ];
  });
}
