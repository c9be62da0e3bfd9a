/** Verifies a recorded run: it is played again in the engine, and what the engine writes and does is judged. */
import { LoopletError } from "../../core/api/errors.js";
import type { JournalEntry } from "../../core/api/run.js";
import { withoutChecksum } from "../../core/kit/journal.js";
import { loadWasm } from "../../core/kit/engine.js";
import { checkOptions, checkValue, isObject } from "../../core/kit/check.js";
import { internalsOf } from "../../core/kit/runs.js";
import { journalIn, readLoop } from "../replay/loop-file.js";
import { play } from "../replay/replay.js";
import { Chain, signedBytes, type Receipt } from "./chain.js";
import {
  foreignCall,
  otherPolicy,
  overspent,
  unapproved,
  type Finding,
  type Played,
  type RunPolicy,
} from "./policy.js";

/** What to verify in addition to the run itself. @beta */
export interface VerifyOptions {
  /**
   * The receipts of the journal, including the last one. For a run that continued in another process, the last one of
   * each process. An empty list fails the check, and so do entries after the last receipt. Default: entries are not
   * checked for changes.
   */
  receipts?: readonly Receipt[] | undefined;
  /**
   * Contract: whether the signature is one of the bytes. Without it the signatures of receipts are not looked at.
   */
  isSigned?:
    | ((bytes: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) => boolean | PromiseLike<boolean>)
    | undefined;
  /** The key of the journal of the receipts. For a run of a chat it is the chat's id. Default: the run's id. */
  key?: string | undefined;
  /** The entries that a store has. They must be those that the engine writes. Default: they are not compared. */
  journal?: readonly JournalEntry[] | undefined;
  /** What must have been true of the run. Default: nothing is checked. */
  policy?: RunPolicy | undefined;
}

/** One thing that was verified. @beta */
export interface VerifiedCheck {
  readonly name:
    "replay" | "journal" | "receipts" | "signatures" | "approvals" | "tools" | "policy" | "budget";
  readonly passed: boolean;
  /** What was found, in a sentence. */
  readonly says: string;
}

/** @beta */
export interface Verification {
  /** Whether all checks have passed. */
  readonly passed: boolean;
  readonly checks: readonly VerifiedCheck[];
}

/** A bound of a policy that may be 0. NaN would let every run pass. */
function checkBound(value: unknown, name: string): void {
  if (value === undefined) return;
  checkValue(value, `policy.${name}`, "number");
  if ((value as number) < 0)
    throw new LoopletError("config_invalid_value", `policy.${name}`, `needs 0 or more, got ${String(value)}`);
}

const TABLE = { receipts: "any", key: "id", isSigned: "function", journal: "any", policy: "object" } as const;
const POLICY_TABLE = {
  approved: "texts",
  tools: "texts",
  agent: "any",
  maxUsd: "any",
  maxTokens: "any",
  maxIterations: "count",
  maxToolCalls: "count",
} as const;

/**
 * Plays the text of a `.loop` file in the engine and judges it. It needs the engine of an entry of looplet:
 * `import "looplet"`.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file` for a text that is not such a file.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { recorder } from "looplet/replay";
 * import { verify } from "looplet/receipts";
 *
 * const agent = createAgent({ model: custom(() => Promise.resolve("Paid.")), record: recorder() });
 * const run = agent.run("Pay.");
 * await run.result;
 * const { passed } = await verify(run.export());
 * console.log(passed); // prints "true"
 * ```
 */
export async function verify(file: string, options: VerifyOptions = {}): Promise<Verification> {
  const { receipts = [], isSigned, journal, policy = {} } = checkOptions(options, "", TABLE);
  const asked = checkOptions(policy, "policy", POLICY_TABLE) as RunPolicy;
  if (!Array.isArray(receipts) || !receipts.every(isReceipt))
    throw new LoopletError("config_wrong_type", "receipts", "needs a list of receipts");
  checkBound(asked.maxUsd, "maxUsd");
  checkBound(asked.maxTokens, "maxTokens");
  if (asked.agent !== undefined && internalsOf(asked.agent) === undefined)
    throw new LoopletError("config_wrong_type", "policy.agent", "needs an agent of createAgent");
  const read = readLoop(file);
  const replay = play(await loadWasm(), read);
  const checks: VerifiedCheck[] = [];
  const check = (name: VerifiedCheck["name"], finding: Finding, well: string): void => {
    checks.push({ name, passed: finding === undefined, says: finding ?? well });
  };
  const last = replay.steps.length - 1;
  if (replay.lost !== undefined) {
    check("replay", `the run cannot be played to its end: ${replay.lost}`, "");
    return { passed: false, checks };
  }
  const played: Played = { replay, end: replay.at(last), file: read };
  const { journal: written, outcome } = played.end;
  check(
    "replay",
    otherEnd(played) ?? tornBetween(played),
    `the engine comes to the same end: ${outcome ?? "open"}`,
  );
  if (journal !== undefined)
    check("journal", otherEntry(written, journal), `${journal.length} entries are the same`);
  if (options.receipts !== undefined)
    check(
      "receipts",
      otherJournal(options.key ?? read.id, receipts) ?? (await brokenChain(written, receipts)),
      `${longestOf(receipts)} entries are unchanged`,
    );
  if (isSigned !== undefined)
    check("signatures", await unsigned(receipts, isSigned), "all receipts are signed");
  const { approved, tools, agent } = asked;
  if (approved !== undefined) check("approvals", unapproved(played, approved), "each such call was allowed");
  if (tools !== undefined) check("tools", foreignCall(played, tools), "no other tool was called");
  if (agent !== undefined) check("policy", otherPolicy(played, agent), "the agent's policy was in force");
  const { maxUsd, maxTokens, maxIterations, maxToolCalls } = asked;
  if ([maxUsd, maxTokens, maxIterations, maxToolCalls].some((most) => most !== undefined))
    check("budget", overspent(played, asked), "the run stayed within its limits");
  return { passed: checks.every(({ passed }) => passed), checks };
}

function isReceipt(value: unknown): value is Receipt {
  if (!isObject(value)) return false;
  const { receipt, journal, entries, head, signature, unseen } = value;
  const isText = signature === undefined || typeof signature === "string";
  return (
    receipt === 1 &&
    typeof journal === "string" &&
    Number.isSafeInteger(entries) &&
    (entries as number) >= 0 &&
    typeof head === "string" &&
    (unseen === undefined || (Number.isSafeInteger(unseen) && (unseen as number) >= 0)) &&
    isText
  );
}

function otherEnd({ file, end }: Played): Finding {
  if (file.outcome === undefined || file.outcome === end.outcome) return undefined;
  return `the file says that the run has ended as ${file.outcome}, and the engine says ${end.outcome ?? "that it has not ended"}`;
}

/** The journal of each process must begin as that of the process before it has ended. */
function tornBetween({ file, replay }: Played): Finding {
  let upto = 0;
  for (const [at, process] of file.processes.entries()) {
    // A process may have ended before its first input.
    const before = upto === 0 ? undefined : replay.at(upto - 1).journal;
    upto += process.inputs.length;
    const taken = journalIn(process);
    const wrong = before && taken && otherEntry(before.slice(0, taken.length), taken);
    if (wrong !== undefined) return `process ${at + 1} went on from another journal: ${wrong}`;
  }
  return undefined;
}

function otherEntry(written: readonly JournalEntry[], kept: readonly JournalEntry[]): Finding {
  const isOther = ({ seq, json }: JournalEntry, index: number): boolean => {
    const own = written[index];
    return own?.seq !== seq || withoutChecksum(own.json) !== withoutChecksum(json);
  };
  const at = kept.findIndex(isOther);
  if (at >= 0) return `entry ${at + 1} is not the one that the engine writes`;
  if (kept.length < written.length) return `entries are missing after entry ${kept.length}`;
  return undefined;
}

/** A receipt of another journal proves nothing about this run. */
function otherJournal(key: string, receipts: readonly Receipt[]): Finding {
  if (receipts.length === 0) return "there is no receipt, so no entry is proved";
  const other = receipts.find(({ journal }) => journal !== key);
  return (
    other &&
    `a receipt is of the journal ${JSON.stringify(other.journal)}, not of ${JSON.stringify(key)}; a run of a chat needs the chat's id as key`
  );
}

/** Holds each receipt against the chain of what the engine has written. */
async function brokenChain(written: readonly JournalEntry[], receipts: readonly Receipt[]): Promise<Finding> {
  const chains = new Map<string, Chain>();
  let proved = 0;
  for (const { journal, entries, head, unseen = 0 } of [...receipts].sort(byLength)) {
    if (entries === 0) return "a receipt covers no entries";
    if (entries > written.length)
      return `a receipt has ${entries} entries, and the engine writes ${written.length}`;
    const chain = chains.get(journal) ?? new Chain(journal);
    chains.set(journal, chain);
    const wrong = await chain.add(written.slice(chain.seq, entries));
    if (wrong !== undefined) return `entries are missing before entry ${wrong}`;
    if ((await chain.head()) !== head)
      return `one of the first ${entries} entries is not the one of the receipt`;
    if (unseen <= proved) proved = entries;
  }
  const longest = longestOf(receipts);
  const rest = written.length - longest;
  // Whoever has the file could add to the run as it likes.
  if (rest > 0) return `no receipt covers the last ${rest} of ${written.length} entries`;
  if (proved < longest)
    return `a process has continued from entries that it has not written: the receipts of the process before it are needed (proved are ${proved} entries)`;
  return undefined;
}

function longestOf(receipts: readonly Receipt[]): number {
  return receipts.reduce((longest, { entries }) => Math.max(longest, entries), 0);
}

function byLength(one: Receipt, other: Receipt): number {
  return one.entries - other.entries;
}

async function unsigned(
  receipts: readonly Receipt[],
  isSigned: NonNullable<VerifyOptions["isSigned"]>,
): Promise<Finding> {
  if (receipts.length === 0) return "there is no receipt";
  for (const receipt of receipts) {
    const { signature, entries } = receipt;
    if (signature === undefined) return `the receipt of ${entries} entries has no signature`;
    const bytes = bytesOf(signature);
    if (bytes === undefined || !(await isSigned(signedBytes(receipt), bytes)))
      return `the signature of the receipt of ${entries} entries is wrong`;
  }
  return undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
