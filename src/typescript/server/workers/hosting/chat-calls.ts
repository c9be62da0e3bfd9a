/** The methods of a chat that clients call, in a worker and over HTTP. */
import type { Chat } from "../../../core/api/index.js";
import type { ChatState } from "../protocol.js";
import { unknownMethod } from "./hosted-run.js";
import { ofRequest } from "./problems.js";
import type { Session, Start } from "./session.js";

/** Methods that start a run. Its options are their last argument. */
export const BEGINNING = ["run", "compact"];

/** How a method starts a run in a chat. */
export function startOf(chat: Chat, method: string, args: readonly any[]): Start {
  const { id, inputs, instructions } = args.at(-1) as {
    id: string;
    inputs?: object;
    instructions?: string | null;
  };
  return (onEvent) => {
    const own = { id, onEvent, ...(inputs && { inputs: inputs as any }) };
    return method === "run"
      ? chat.run(args[0], own)
      : chat.compact({ ...own, ...(instructions != null && { instructions }) });
  };
}

/** Performs any other method. @throws BadRequest */
export async function callChat(
  session: Session,
  chat: Chat,
  method: string,
  args: readonly any[],
): Promise<unknown> {
  if (method === "taken") return (args[0] as string[]).filter((id) => chat.hasTaken(id));
  if (method === "reset") {
    await ofRequest(() => chat.reset(args[0]), true);
    session.tellMessages(chat);
  } else if (method !== "saved") throw unknownMethod(method);
  return chat.saved();
}

export function stateOf({ messages, subagents, usage, isWhole, current }: Chat): ChatState {
  return { messages, subagents, usage, isWhole, run: current?.id ?? null };
}
