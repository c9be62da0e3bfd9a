/** A transport fits `useChat` of each version of `ai`, checked by `tsc -p tsconfig.tests.json` and never run. */
import { expectTypeOf } from "vitest";
import type { Agent } from "looplet";
import { isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import type { RemoteAgent } from "looplet/workers";
import type { UseChatOptions as Options5, UIMessage as Message5 } from "ai-sdk-react-5";
import type { UseChatOptions as Options6, UIMessage as Message6 } from "ai-sdk-react-6";
import type { UseChatOptions as Options7, UIMessage as Message7 } from "ai-sdk-react-7";

declare const agent: Agent;
declare const remote: RemoteAgent;

const options = { transport: new LoopletChatTransport(agent), sendAutomaticallyWhen: isAnswered };

expectTypeOf(options).toExtend<Options5<Message5>>();
expectTypeOf(options).toExtend<Options6<Message6>>();
expectTypeOf(options).toExtend<Options7<Message7>>();
expectTypeOf(new LoopletChatTransport(remote)).toExtend<LoopletChatTransport>();
