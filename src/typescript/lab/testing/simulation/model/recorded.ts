/** The answers of a recorded run, as turns of a model. */
import type { ScriptedTurn } from "../../../practice/types.js";
import { readLoop, type LoopInput } from "../../../replay/loop-file.js";
import { decoded } from "../../../replay/loop-file.js";

/**
 * The answers of models in the text of a `.loop` file, for `world.model`: each as it came over the network, in its
 * order. Answers that failed or broke off are left out.
 *
 * @beta
 *
 * @throws LoopletError `misuse_run_file`
 */
export function recorded(file: string): readonly ScriptedTurn[] {
  const turns: ScriptedTurn[] = [];
  for (const { inputs } of readLoop(file).processes) {
    const open = new Map<number, Answer>();
    for (const [at, { input }] of inputs.entries()) hear(input, at, open, turns);
  }
  return turns;
}

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly chunks: Uint8Array[];
}

function hear(input: LoopInput["input"], at: number, open: Map<number, Answer>, turns: ScriptedTurn[]): void {
  if ("text" in input) {
    open.get(input.text.request)?.chunks.push(new TextEncoder().encode(input.text.text));
    return;
  }
  if ("bytes" in input) {
    open.get(input.bytes.request)?.chunks.push(decoded(input.bytes.base64, at));
    return;
  }
  const { head, end } = Object(input.json) as {
    head?: Omit<Answer, "chunks"> & { readonly request: number };
    end?: { readonly request: number };
  };
  if (head !== undefined) open.set(head.request, { ...head, chunks: [] });
  const answer = end === undefined ? undefined : open.get(end.request);
  if (answer === undefined || answer.status >= 400) return;
  const type = answer.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  turns.push({
    body: joined(answer.chunks),
    ...(type !== undefined && { headers: { "content-type": type } }),
  });
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
