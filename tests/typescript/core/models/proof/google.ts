/**
 * A server that plays Gemini's rule of signatures: in the current turn, the first call of each answer has its
 * `thoughtSignature`, which belongs to that call. Gemini ties no signature to what precedes it.
 * https://ai.google.dev/gemini-api/docs/thought-signatures (VENDORS.md, 1.8)
 */

type Json = any;

/** What stands for the signature of a call that no Gemini has made. */
const FOREIGN = "skip_thought_signature_validator";

export interface Google {
  readonly requests: Json[];
  readonly refused: string[];
  fetch(url: string, init: RequestInit): Promise<Response>;
}

const callText = ({ name, args }: Json): string => `${name} ${JSON.stringify(args ?? {})}`;

/** `script` gets the names of the tools. It returns the calls, or the text that ends the turn. */
export function googleServer(script: (names: string[]) => { calls?: Json[]; text?: string }): Google {
  const issued = new Map<string, { model: string; call: string }>();
  const server: Google = {
    requests: [],
    refused: [],
    fetch: (url, init) => {
      const body = JSON.parse(new TextDecoder().decode(init.body as Uint8Array));
      const model = /models\/([^:]+)/.exec(url)![1]!;
      server.requests.push(body);
      const refusal = refusalOf(model, body.contents);
      if (refusal !== undefined) {
        server.refused.push(refusal);
        const error = { code: 400, message: refusal, status: "INVALID_ARGUMENT" };
        return Promise.resolve(Response.json({ error }, { status: 400 }));
      }
      const tools = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
      const { calls = [], text } = script(tools.map(({ name }: Json) => name));
      const parts: Json[] = [{ text: "Thought.", thought: true }, ...(text === undefined ? [] : [{ text }])];
      for (const [at, { name, input }] of calls.entries()) {
        // No other call is the same, so a signature is known to belong to it.
        const part: Json = { functionCall: { name, args: { ...input, n: issued.size } } };
        if (at === 0) {
          part.thoughtSignature = btoa(`signature ${issued.size} of ${model}`);
          issued.set(part.thoughtSignature, { model, call: callText(part.functionCall) });
        }
        parts.push(part);
      }
      const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 10, totalTokenCount: 1010 };
      const candidate = { content: { role: "model", parts }, finishReason: "STOP", index: 0 };
      return Promise.resolve(Response.json({ candidates: [candidate], usageMetadata }));
    },
  };
  const refusalOf = (model: string, contents: Json): string | undefined => {
    const isPrompt = ({ role, parts }: Json): boolean =>
      role === "user" && parts.every(({ functionResponse }: Json) => functionResponse === undefined);
    const turn = contents.slice(contents.findLastIndex(isPrompt) + 1);
    for (const [index, { role, parts }] of turn.entries()) {
      if (role !== "model") continue;
      const first = parts.find(({ functionCall }: Json) => functionCall !== undefined);
      if (first === undefined) continue;
      const { thoughtSignature, functionCall } = first;
      if (thoughtSignature === undefined)
        return `Function call is missing a thought_signature in functionCall parts. Additional data, function call ${functionCall.name}, position ${index}`;
      const call = callText(functionCall);
      const own = [...issued.values()].some((one) => one.model === model && one.call === call);
      if (thoughtSignature === FOREIGN && !own) continue;
      if (issued.get(thoughtSignature)?.call !== call)
        return `Corrupted thought signature in function call ${call}.`;
    }
    return undefined;
  };
  return server;
}
