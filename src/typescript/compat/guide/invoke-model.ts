import type { AgentOptions, Message, Model, RunEvent } from "../../core/api/index.js";
import { fromApi, toApi } from "../anthropic.js";
import { createAgent } from "../../core/index.js";
import { hostOptions, modelOf, warn, type Host } from "../host.js";
import { mergeOptions, presets } from "../presets/index.js";
import type { GenericMessage, InvokeModel, Session } from "./types.js";
import { parseResponse, toApiMessages } from "./wire.js";

/** Options of `createAgent` that concern one model call. Default: no retries. */
export interface InvokeModelOptions extends Omit<AgentOptions, "model" | "tools" | "system"> {
  /** For a model by its name: its constructor, the key, and what tests replace. */
  host?: Host | undefined;
}

/**
 * An `invokeModel` for a looplet model of any vendor, or for an Anthropic model by name. Without `host.apiKey`, a
 * name uses the key in the environment variable `ANTHROPIC_API_KEY`, if there is a process. The session stays in its
 * generic form, so another model can continue it. Rejects with a `RunError` if the model call fails, and with a
 * `TypeError` for a session that does not end with the user or a result.
 */
export function makeInvokeModel(model: string | Model, given: InvokeModelOptions = {}): InvokeModel {
  const { host = {}, ...options } = given;
  // Each response of a session is a run, and most warnings concern its options.
  const warned = new WeakMap<Session, Set<string>>();
  const warnOnce = (session: Session, message: string): void => {
    const messages = warned.get(session) ?? new Set();
    if (messages.has(message)) return;
    warned.set(session, messages.add(message));
    warn(host, message);
  };
  return async (tools, session) => {
    const { system, messages } = toApiMessages(session);
    if (messages.at(-1)?.role !== "user")
      throw new TypeError("invokeModel: the session needs to end with a message of the user or a result");
    const origins = originsIn(session);
    const asked = messages.map(({ role, content }): Message => {
      const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
      const signed = blocks.find((block) => block.type === "thinking" && origins.has(block.signature));
      const origin = signed?.type === "thinking" ? { origin: origins.get(signed.signature)! } : {};
      return { role, content: blocks.map(fromApi), ...origin };
    });
    const always = {
      ...hostOptions(host),
      model: modelOf(model, host),
      ...(system === null ? {} : { system }),
      tools: tools.map(({ name, description, input_schema: inputSchema }) => ({
        name,
        description,
        inputSchema,
        validate: false,
        execute: () => "",
      })),
      // The caller runs the calls.
      limits: { maxToolRounds: 0 },
      onFailure: "throw" as const,
    };
    const agent = createAgent(mergeOptions(presets.guide.agent, options, always) as AgentOptions);
    const onEvent = (event: RunEvent): void => {
      if (event.type === "warning") warnOnce(session, event.message);
    };
    const result = await agent.run([], { messages: asked, onEvent }).result;
    const answers = result.messages.slice(asked.length).filter(({ role }) => role === "assistant");
    return answers.flatMap(({ content, origin }) =>
      parseResponse({ content: content.flatMap(toApi) }).map((message) => placed(message, origin)),
    );
  };
}

type Origin = NonNullable<Message["origin"]>;

/** Signed thinking with its origin, because no other model may get it. */
function placed(message: GenericMessage, origin: Origin | undefined): GenericMessage {
  const isSigned = "signature" in message && message.signature !== undefined;
  return isSigned && origin !== undefined ? { ...message, origin } : message;
}

/** The origins of signed thinking, by signature. */
function originsIn(session: Session): Map<string | undefined, Origin> {
  const signed = session.messages.flatMap((message): [string | undefined, Origin][] =>
    "signature" in message && message.origin !== undefined ? [[message.signature, message.origin]] : [],
  );
  return new Map(signed);
}
