// @ts-check
import { ToolError, tool } from "looplet";

const names = /** @type {const} */ (["about.md", "tools.md", "steering.md", "limits.md", "keys.md"]);

/** Contract: gives the text of the document with this name; rejects when it cannot be read.
 * @typedef {(name: string, signal: AbortSignal) => Promise<string>} ReadDocument */

/**
 * Two tools around looplet's own short documents.
 *
 * @param {ReadDocument} read
 */
export function documents(read) {
  return {
    read_document: tool({
      description: "Reads one of the documents about looplet.",
      inputSchema: {
        type: "object",
        properties: { document: { type: "string", enum: names, description: "File name of the document" } },
        required: ["document"],
        additionalProperties: false,
      },
      readOnly: true,
      timeoutMs: 10_000,
      execute: ({ document }, { signal }) => readOrFault(read, document, signal),
    }),
    slow_lookup: tool({
      description:
        "Looks a topic up in the archive, shelf by shelf, and returns the passages that mention it. Takes several seconds and reports progress.",
      inputSchema: {
        type: "object",
        properties: { topic: { type: "string", minLength: 1, description: "Search words" } },
        required: ["topic"],
        additionalProperties: false,
      },
      readOnly: true,
      // What a generator yields is progress, what it returns is the result.
      async *execute({ topic }, { signal }) {
        const words = [...new Set(topic.toLowerCase().match(/\p{L}{4,}/gu) ?? [topic.toLowerCase()])];
        const passages = [];
        for (const [index, name] of names.entries()) {
          yield { done: index, total: names.length, shelf: name };
          await pause(shelfMs, signal);
          const text = await readOrFault(read, name, signal);
          for (const passage of text.split(/\n\s*\n/).filter((part) => !part.startsWith("#"))) {
            const hits = words.filter((word) => passage.toLowerCase().includes(word)).length;
            if (hits > 0) passages.push({ hits, document: name, passage: passage.trim() });
          }
        }
        yield { done: names.length, total: names.length };
        passages.sort((a, b) => b.hits - a.hits);
        return passages.slice(0, 3).map(({ document, passage }) => ({ document, passage }));
      },
    }),
  };
}

/** Time for one shelf, in milliseconds: long enough to watch, to steer and to stop. */
const shelfMs = 900;

/** @param {ReadDocument} read @param {string} name @param {AbortSignal} signal */
async function readOrFault(read, name, signal) {
  try {
    return await read(name, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new ToolError({
      code: "unreadable",
      message: `${name} cannot be read: ${cause instanceof Error ? cause.message : cause}`,
      hint: `Try another one: ${names.join(", ")}.`,
    });
  }
}

/** @param {number} delayMs @param {AbortSignal} signal @returns {Promise<void>} */
function pause(delayMs, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
