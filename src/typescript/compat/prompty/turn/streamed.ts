/** A turn with texts that wait for a reader. */
import { CancelledError } from "../errors.js";
import { PromptyStream } from "../model/stream.js";

/** Contract: calls `show` with each text of the last answer, and continues when it resolves. */
export type Play = (show: (text: string) => Promise<void>) => Promise<unknown>;

type Next = IteratorResult<string, undefined>;

/** Resolves as soon as there is a text or the turn is over. A text is taken when its reader asks for it. */
export async function streamed(
  play: Play,
  onEnd: (items: readonly string[]) => void,
): Promise<PromptyStream> {
  let take: (next: Next) => void;
  let proceed = (): void => {};
  let hasLeft = false;
  const show = (value: string): Promise<void> =>
    new Promise((resolve, reject) => {
      proceed = () => (hasLeft ? reject(new CancelledError("The reader of the stream has left")) : resolve());
      if (hasLeft) proceed();
      else take({ value, done: false });
    });
  let end: Promise<Next> | undefined;
  const next = (): Promise<Next> =>
    new Promise((resolve, reject) => {
      take = resolve;
      end ??= play(show).then(() => ({ value: undefined, done: true }));
      end.then(resolve, reject);
      proceed();
    });
  const begun = [next()];
  await begun[0];
  const source = {
    next: () => begun.shift() ?? next(),
    async return(): Promise<Next> {
      hasLeft = true;
      proceed();
      return { value: undefined, done: true };
    },
  };
  return new PromptyStream({ [Symbol.asyncIterator]: () => source }, onEnd);
}
