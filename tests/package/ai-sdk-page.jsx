// A chat of `@ai-sdk/react` on an agent in the page. tests/package/ai-sdk.test.mjs does what a person does.
import { useChat } from "@ai-sdk/react";
import { createAgent, custom, tool } from "looplet";
import { clientTool, isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import { indexedDbStore } from "looplet/stores";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const schema = { type: "object" };
let failures = 0;

const model = custom(async function* ({ messages, signal }) {
  const prompts = messages.filter(({ role, content }) => role === "user" && content[0].type === "text");
  const [{ text }] = prompts.at(-1).content;
  const results = messages.at(-1).content.filter(({ type }) => type === "tool_result");
  if (results.length > 0) {
    yield results[0].isError ? "As you like." : `Done: ${results[0].content[0].text}.`;
  } else if (text === "book") {
    yield { type: "tool_call", id: `c${messages.length}`, name: "book", input: {} };
    yield { type: "tool_call", id: `w${messages.length}`, name: "weather", input: {} };
  } else if (text === "where") {
    yield { type: "tool_call", id: `c${messages.length}`, name: "where", input: {} };
  } else if (text === "fail" && ++failures === 1) {
    yield { type: "error", code: "invalid_request", message: "It cannot be done" };
  } else if (text === "slow" && sessionStorage.getItem("isSecond") === null) {
    yield "Slow";
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  } else {
    for (const word of ["You ", "said ", text, "."]) yield word;
  }
});

const agent = createAgent({
  model,
  store: indexedDbStore(),
  tools: {
    book: tool({
      description: "Books",
      inputSchema: schema,
      needsApproval: true,
      execute() {
        localStorage.setItem("booked", Number(localStorage.getItem("booked") ?? 0) + 1);
        return "Hotel";
      },
    }),
    weather: tool({ description: "Weather", inputSchema: schema, readOnly: true, execute: () => "rain" }),
    where: clientTool({ description: "Where the user is", inputSchema: schema }),
  },
});

const transport = new LoopletChatTransport(agent);
const id = "chat";

function Chat({ messages }) {
  const chat = useChat({ id, messages, transport, resume: true, sendAutomaticallyWhen: isAnswered });
  const button = (name, onClick) => (
    <button type="button" onClick={() => void onClick()}>
      {name}
    </button>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void chat.sendMessage({ text: event.target.elements.text.value });
      }}
    >
      <output data-status={chat.status}>{chat.status}</output>
      {chat.messages.map(({ id, role, parts }) => (
        <section key={id} data-role={role}>
          {parts.map((part, at) => {
            if (part.type === "text") return <p key={at}>{part.text}</p>;
            if (part.toolCallId === undefined) return null;
            const answer = (approved) => chat.addToolApprovalResponse({ id: part.approval.id, approved });
            const { type, state, toolCallId } = part;
            const output = { tool: "where", toolCallId, output: "Rome" };
            return (
              <p key={at}>
                {`${type}: ${state} `}
                {state === "approval-requested" && button("Approve", () => answer(true))}
                {state === "approval-requested" && button("Deny", () => answer(false))}
                {type === "tool-where" &&
                  state === "input-available" &&
                  button("Rome", () => chat.addToolOutput(output))}
              </p>
            );
          })}
        </section>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <input name="text" aria-label="Message" />
      <button>Send</button>
      {button("Stop", () => chat.stop())}
      {button("Again", () => chat.regenerate())}
    </form>
  );
}

const messages = await transport.loadMessages(id);
createRoot(document.querySelector("main")).render(
  <StrictMode>
    <Chat messages={messages} />
  </StrictMode>,
);
