/** Methods of other libraries on agents and chats, which throw with what to write. */
import { LoopletError } from "../api/errors.js";

/** The prototype of agents: methods of other libraries, which throw with what to write. */
export function noAgentMethods(): object {
  const instead = "use agent.run(prompt), and await its result for the whole answer";
  const names = ["sendMessage", "generate", "stream", "invoke"];
  return Object.fromEntries(names.map((name) => [name, () => refuse(`agent.${name}`, instead)]));
}

/** The base of chats. A class, because a bundler keeps all that a static block of a subclass calls. */
export const NoChatMethods: new () => object = class {
  sendMessage(): never {
    return refuse("chat.sendMessage", "use chat.run(prompt)");
  }

  send(): never {
    return refuse("chat.send", "use chat.run(prompt)");
  }
};

function refuse(method: string, instead: string): never {
  throw new LoopletError("misuse_invalid_argument", method, `no such method; ${instead}`);
}
