// What replays come to: a line for each file, equal in every host.
import "looplet";
import { replay } from "looplet/replay";

/** The lines of the files in `text`, of which each is a line too. */
export async function replayed(text) {
  const lines = [];
  for (const file of text.split("\n").filter((line) => line !== "")) {
    const { steps, requests: sent } = await replay(file);
    const requests = sent.map(({ method, url, body }) => ({ method, url, body }));
    const all = (kind) => steps.flatMap((step) => step[kind]);
    const [events, calls, questions, entries] = ["events", "calls", "questions", "entries"].map(all);
    lines.push((await digests({ events, requests, calls, questions, entries })).join(", "));
  }
  return lines.join("\n");
}

/** The length and the digest of each list. */
export async function digests(lists) {
  const words = Object.entries(lists).map(async ([name, list]) => {
    const bytes = new TextEncoder().encode(JSON.stringify(list));
    const [first] = new BigUint64Array(await crypto.subtle.digest("SHA-256", bytes));
    return `${name} ${list.length} ${first.toString(16)}`;
  });
  return Promise.all(words);
}
