/** Everything of the package that reads `.loop` files. Nothing here needs Node. */
import { anthropic, createAgent, LoopletError, tool } from "looplet";
import { compare, junitReport, markdownReport, textReport, type CompareReport } from "looplet/compare";
import { scripted } from "looplet/practice";
import { verify } from "looplet/receipts";
import { fork, redact, replay } from "looplet/replay";
import { expectReplay, ReplayDifference, withExpectations } from "looplet/testing";

/** An agent with the tools of `tests/fixtures/loop`, which answers at once. */
export function otherAgent() {
  const acts = { description: "acts", inputSchema: { type: "object" } as const, execute: () => "done" };
  return createAgent({
    model: anthropic("claude-test", { fetch: scripted([{ text: "Done." }]) }),
    system: "Be kind.",
    tools: { read: tool({ ...acts, readOnly: true }), wipe: tool({ ...acts, needsApproval: true }) },
    permissions: { canUseTool: () => ({ behavior: "deny" as const }) },
  });
}

type LoopReader = (text: string) => Promise<unknown>;

/** Readers by their names: each gives all that it tells of a file. */
export const LOOP_READERS: { readonly [name: string]: LoopReader } = {
  async replay(text) {
    const played = await replay(text);
    // A replay whose instance is lost has no state behind its last step.
    const moments = played.lost === undefined ? [0, played.steps.length - 1].map(played.at) : [];
    return { ...played, moments };
  },
  fork: (text) => fork(text, 0),
  redact: (text) => replay(redact(text, { redact: (one) => one })),
  async compare(text) {
    const report = await compare([text], otherAgent());
    return { report, written: [textReport, markdownReport, junitReport].map((write) => write(report)) };
  },
  "compare with hooks": (text) => compare([{ name: "one", text }], otherAgent(), { hooks: "run" }),
  "compare with tools": (text) => compare([text], otherAgent(), { tools: "run" }),
  "compare live": (text) => compare([text], otherAgent(), { live: { maxRequests: 3 } }),
  verify: (text) =>
    verify(text, {
      policy: { approved: ["*"], tools: ["read"], agent: otherAgent(), maxUsd: 1, maxToolCalls: 9 },
      receipts: [{ receipt: 1, journal: "wasm", entries: 1, head: "0".repeat(64) }],
      journal: [{ seq: 1, json: "{}" }],
    }),
  expectReplay: (text) => expectReplay(text),
  "expectReplay with an agent": (text) => expectReplay(text, { agent: otherAgent(), tools: "run" }),
  withExpectations: (text) => withExpectations(text),
};

/**
 * Whether a reader refuses a file, plays it, or loses its instance of the engine, and its words for people. Rejects
 * if it does anything else.
 */
export async function fateIn(
  read: LoopReader,
  text: string,
): Promise<{ fate: "refused" | "played" | "lost"; words: string }> {
  let told: unknown;
  try {
    told = await read(text);
  } catch (error) {
    const words = (error as Error).message;
    if (error instanceof ReplayDifference) return { fate: "played", words };
    if (error instanceof LoopletError && error.code === "misuse_run_file") return { fate: "refused", words };
    throw error;
  }
  const { lost, report, written = [] } = told as Told;
  if (lost !== undefined) return { fate: "lost", words: lost };
  const { runs } = report ?? (told as Partial<CompareReport>);
  const fate = runs?.[0]?.verdict === "failed" ? "refused" : "played";
  return { fate, words: written.join("") };
}

interface Told {
  readonly lost?: string;
  readonly report?: CompareReport;
  readonly written?: readonly string[];
}

/** Characters that a terminal takes as commands. */
// eslint-disable-next-line no-control-regex
export const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
/** A line of a file that looks like one of the program. */
export const FORGED = /^✓ replay: forged/m;
