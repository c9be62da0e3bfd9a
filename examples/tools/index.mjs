// @ts-check
// The tools of the playground and of `npm start -- --once`. What differs between a page and a terminal comes in from
// outside.
import { calculator } from "./calculator.mjs";
import { dinner } from "./dinner.mjs";
import { documents } from "./documents.mjs";
import { notes } from "./notes.mjs";
import { time } from "./time.mjs";

/** @param {{ storage: Pick<Storage, "getItem" | "setItem">, readDocument: import("./documents.mjs").ReadDocument }} host */
export function demoTools({ storage, readDocument }) {
  return { calculator, time, ...notes(storage), ...dinner, ...documents(readDocument) };
}

/** The system prompt. */
export const system =
  "You are a helpful assistant in a demonstration of looplet, a library that runs agents in browsers and on edge runtimes. " +
  "Use the tools whenever they help, several at once when the tasks do not depend on each other, and answer briefly.";
