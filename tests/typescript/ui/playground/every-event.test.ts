// The page of the playground is reloaded at every single event of a run: the next page draws the same, and every
// question can be answered.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createAgent, custom, type JournalEntry, type Store } from "looplet";
import { Session } from "../../../../www/src/agent/session.js";
import { lines } from "../kit.js";

/** Parallel calls, one of them a subagent that asks, two approvals and a form. */
const PROMPT =
  "Plan a dinner, and save the note: water the plants, and ask the secretary to save the note: call Ada, and what is 6 * 7?";
const STEER = "Also calculate 7 * 8";

/** What a browser keeps when its page is reloaded at this moment: no write that is under way. */
class Browser {
  readonly journals: Map<string, JournalEntry[]>;
  readonly session: Map<string, string>;
  readonly local: Map<string, string>;
  /** Events of all pages. */
  seen = 0;

  constructor(before?: Browser) {
    this.journals = new Map([...(before?.journals ?? [])].map(([key, entries]) => [key, [...entries]]));
    this.session = new Map(before?.session);
    this.local = new Map(before?.local);
  }

  readonly store: Store = {
    append: async (key, entries) => {
      await new Promise((resolve) => setTimeout(resolve, 3));
      this.journals.set(key, [...(this.journals.get(key) ?? []), ...entries]);
    },
    load: (key) => this.journals.get(key) ?? [],
    delete: (key) => void this.journals.delete(key),
  };

  get notes(): { text: string }[] {
    return JSON.parse(this.local.get("looplet.notes") ?? "[]") as { text: string }[];
  }
}

let browser = new Browser();
/** The browser at the moment of a reload. */
let reloaded: Browser | undefined;
let reloadAt = 0;

vi.mock("looplet/stores", () => ({
  indexedDbStore: (): Store => ({
    append: (...given) => browser.store.append(...given),
    load: (...given) => browser.store.load(...given),
    delete: (...given) => browser.store.delete!(...given),
  }),
}));
vi.mock("looplet/devtools/publish", () => ({ publish: () => ({ record: undefined }) }));
vi.mock("../../../../www/src/agent/panels/all-runs.js", () => ({
  keptRows: () => ({
    onEvent: () => {
      browser.seen += 1;
      if (browser.seen === reloadAt && !reloaded) reloaded = new Browser(browser);
    },
  }),
}));

const storageOf = (map: () => Map<string, string>) => ({
  getItem: (key: string) => map().get(key) ?? null,
  setItem: (key: string, value: string) => void map().set(key, value),
  removeItem: (key: string) => void map().delete(key),
});

beforeAll(async () => {
  // The engine is loaded in real time.
  await createAgent({ model: custom(() => "Ready.") }).run("Go.").result;
  vi.stubGlobal("MessageChannel", class {});
  vi.stubGlobal(
    "sessionStorage",
    storageOf(() => browser.session),
  );
  vi.stubGlobal(
    "localStorage",
    storageOf(() => browser.local),
  );
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => void draw());
  vi.stubGlobal("cancelAnimationFrame", () => {});
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
}, 60_000);
afterAll(() => void vi.useRealTimers());

/** Time passes. What waits for no timer comes in between. */
async function pass(): Promise<void> {
  await vi.advanceTimersByTimeAsync(5);
  await new Promise((resolve) => setImmediate(resolve));
}

function open(): Session {
  const session = new Session();
  session.recall();
  return session;
}

const textOf = (session: Session): string[] =>
  session.getState().runs.flatMap(({ messages }) => lines(messages));

/** The user fills in the form, adds a message when both approvals are open, and then allows everything. */
function act(session: Session): void {
  const { runs, questions, queue } = session.getState();
  if (runs.length === 0) return session.ask(PROMPT);
  const form = questions.find(({ kind }) => kind === "elicitation");
  if (form) return session.answer(form, { action: "accept", content: { guests: 4, dish: "Curry" } });
  const hasSteered = queue.length > 0 || textOf(session).join().includes(STEER);
  if (!hasSteered && questions.length === 2) session.tell("steer", STEER);
  if (!hasSteered) return;
  for (const question of questions) {
    if (question.kind === "permission") session.answer(question, { behavior: "allow" });
    if (question.kind !== "reconcile") continue;
    const { text } = question.input as { text: string };
    const saved = browser.notes.find((note) => note.text === text);
    const output = { saved, count: browser.notes.length };
    session.answer(question, saved ? { outcome: "done", output } : { outcome: "run" });
  }
}

/** What the page draws at the end of a run, without what depends on the order of the notes and on the time. */
function drawn(session: Session): unknown {
  const { runs, questions, queue, isRunning, phase, text } = session.getState();
  const shown = runs.map(({ lines: news, tally, result, followUps }) => {
    const { iterations, tool_rounds, tool_calls } = tally.used;
    const told = news.flatMap(({ news }) => (typeof news === "string" ? [] : [news.type]));
    return {
      told: told.filter((type) => type !== "answer-cut-off"),
      used: { iterations, tool_rounds, tool_calls },
      outcome: result?.outcome,
      followUps,
    };
  });
  const messages = textOf(session).map((line) => line.replace(/\b(id|count)("?[: ])\d+/g, "$1$2n"));
  return { messages, shown, questions, queue, isRunning, phase, text };
}

/** What is drawn at the end if the page is reloaded at this event; and the number of events. */
async function talk(at: number): Promise<{ end: unknown; notes: string[]; seen: number }> {
  [browser, reloaded, reloadAt] = [new Browser(), undefined, at];
  let session = open();
  for (let step = 0; step < 5000; step++) {
    await pass();
    if (reloaded && browser !== reloaded) {
      vi.clearAllTimers();
      for (let ticks = 0; ticks < 5; ticks++) await new Promise((resolve) => setImmediate(resolve));
      browser = reloaded;
      session = open();
      continue;
    }
    const { runs, isRunning } = session.getState();
    if (runs.at(-1)?.result && !isRunning) {
      await pass();
      const notes = browser.notes.map(({ text }) => text).sort();
      return { end: drawn(session), notes, seen: browser.seen };
    }
    act(session);
  }
  const { phase, questions } = session.getState();
  throw new Error(`event ${at}: ${phase}, ${JSON.stringify(questions)}\n${textOf(session).join("\n")}`);
}

it("the playground is drawn as on a page that was never reloaded, at every event", async () => {
  const { end, notes, seen } = await talk(0);
  expect(notes).toEqual(["call Ada", "water the plants"]);
  expect(JSON.stringify(end)).toContain("Curry");
  for (let at = 1; at <= seen; at++) {
    const again = await talk(at);
    expect(again.end, `event ${at}`).toEqual(end);
    expect(again.notes, `event ${at}`).toEqual(notes);
  }
}, 300_000);
