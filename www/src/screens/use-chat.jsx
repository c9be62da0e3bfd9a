/** `useChat` of the AI SDK, by its transport; alone, and below assistant-ui. */
import { useChat } from "@ai-sdk/react";
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
} from "@assistant-ui/react";
import { useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { LoopletChatTransport } from "looplet/ai-sdk";
import { failureText } from "looplet/ui";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

const id = "screens";

/** What `useChat` gives, on the chat of the hub, with the runs that others begin. */
function useSharedChat(hub) {
  const join = useRef();
  const [{ transport, leave }] = useState(() => {
    const { agent, leave } = hub.seat(() => join.current());
    return { transport: new LoopletChatTransport(agent, { onError: failureText }), leave };
  });
  const chat = useChat({ id, transport });
  const { setMessages, resumeStream } = chat;
  join.current = async () => {
    setMessages(await transport.loadMessages(id));
    await resumeStream();
  };
  // The seat is empty before `useChat` stops its run.
  useLayoutEffect(() => leave, []);
  useEffect(() => void join.current(), []);
  return chat;
}

export function UseChat({ hub }) {
  const { messages, sendMessage, error } = useSharedChat(hub);
  return (
    <form className="plain-chat" action={(data) => void sendMessage({ text: String(data.get("text")) })}>
      <div className="messages">
        {messages.map(({ id, role, parts }) => (
          <div key={id} data-role={role}>
            {parts.map((part, at) => (
              <Part key={at} part={part} />
            ))}
          </div>
        ))}
        {error && <p role="alert">{"code" in error ? failureText(error) : error.message}</p>}
      </div>
      <input name="text" aria-label="Message for useChat" placeholder="Ask something" />
    </form>
  );
}

function Part({ part }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (!("toolCallId" in part)) return null;
  return <p className="call">{`${part.type.replace("tool-", "")}: ${part.state}`}</p>;
}

export function AssistantUi({ hub }) {
  const runtime = useAISDKRuntime(useSharedChat(hub));
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root className="plain-chat">
        <ThreadPrimitive.Viewport className="messages">
          <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message for assistant-ui" placeholder="Ask something" />
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

function Message() {
  return (
    <MessagePrimitive.Root className="message">
      <MessagePrimitive.Parts components={{ tools: { Fallback: Call } }} />
    </MessagePrimitive.Root>
  );
}

function Call({ toolName, status }) {
  return <p className="call">{`${toolName}: ${status.type}`}</p>;
}
