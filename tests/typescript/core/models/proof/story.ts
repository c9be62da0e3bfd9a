/**
 * A random story of one conversation: processes that come and go, deploys that change the agent, models that change,
 * and every feature that rewrites what a request begins with. The servers play the vendors' checks.
 */
import {
  anthropic,
  bedrock,
  createAgent,
  gemini,
  handoff,
  openai,
  subagent,
  tool,
  vendorTool,
  type Agent,
  type Message,
  type Run,
  type Store,
} from "looplet";
import { memoryStore } from "looplet/stores";
import { anthropicTools, openaiTools } from "looplet/vendors";
import { between, seededRandom } from "../../../../../src/typescript/lab/practice/random.js";
import { clearing } from "../../../support/clearing.js";
import { compacting } from "../../../support/compacting.js";
import { toConverse, toMessages } from "./converse.js";
import { googleServer } from "./google.js";
import { Oracle, couldRead } from "./oracle.js";
import { settingsOf, wanted } from "./settings.js";

/** The vendors' servers: `anthropicServer` and `openaiServer` of `prefix-server.mjs`. */
export interface Servers {
  anthropicServer(options: object): any;
  openaiServer(options: object): any;
}

const CLAUDES = [
  "claude-fable-5-2",
  "claude-mythos-5-2",
  "claude-fable-5-1",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-opus-5",
  "claude-opus-4-8",
];
const GPTS = ["gpt-6.2-sol", "gpt-6.2-astra", "gpt-6.1-sol", "gpt-5.6-sol"];
/** Claude over Bedrock's Converse. */
const CONVERSE = CLAUDES.map((id) => `us.anthropic.${id}`);
const GEMINIS = ["gemini-3.8-flash", "gemini-4-neon"];

/** Plays one story. Returns what went wrong. */
export async function play(seed: string, servers: Servers): Promise<string[]> {
  const random = seededRandom(seed);
  const pick = <T>(...of: T[]): T => of[between(random, 0, of.length - 1)]!;
  const chance = (percent: number): boolean => random() * 100 < percent;
  const faults: string[] = [];
  let place = "";

  const pool = pick(
    () => [pick(...CLAUDES.slice(0, 6))],
    () => [pick(...CLAUDES), pick(...CLAUDES), pick(...CLAUDES)],
    () => [pick(...GPTS)],
    () => [pick(...GPTS), pick(...GPTS)],
    () => [pick(...CLAUDES), pick(...GPTS), pick(...CLAUDES)],
    () => [pick(...CONVERSE.slice(0, 6))],
    () => [pick(...CONVERSE), pick(...CLAUDES), pick(...CONVERSE)],
    () => [pick(...GEMINIS), pick(...GEMINIS)],
    () => [pick(...GEMINIS), pick(...CLAUDES, ...GPTS, ...CONVERSE)],
  )();
  /** A gateway does not pass `block_binding` on, so the vendor refuses what it would drop. */
  const isStrict = chance(50);
  const used = { prunes: false };
  // A journal names its agents, so every deploy has them.
  const has = { handoff: chance(25), helper: chance(25) };
  /** A model of another agent comes without its format: to a subagent, and to a run that is restored. */
  const hasOthers = has.helper || has.handoff;

  // What the models say.
  const said = (names: string[]): object => {
    const own = names.filter((name) => /^(look|more|mcp_.|helper|to_other|rare)$/.test(name));
    const inputOf = (name: string): object =>
      /helper|to_other/.test(name) ? { prompt: "Help." } : { q: "x".repeat(pick(10, 300)) };
    const usage = { input_tokens: chance(8) ? 9000 : 1000 };
    if (own.length === 0 || chance(35)) return { text: `Text ${(count += 1)}.`, usage };
    const called = Array.from({ length: pick(1, 1, 2) }, () => pick(...own));
    const calls = called.map((name) => ({ id: `call_${(count += 1)}`, name, input: inputOf(name) }));
    return { calls, usage, ...(chance(30) ? { text: `Calling ${(count += 1)}.` } : {}) };
  };
  let count = 0;
  const thinking = (): string[] =>
    Array.from({ length: pick(1, 1, 1, 1, 2, 0) }, () => `thought ${(count += 1)}`);
  const claudeOptions = {
    strictForm: true,
    account: pick("new", "old"),
    cascade: pick("turn", "all"),
    script(index: number, body: any) {
      const answer: any = said((body.tools ?? []).map(({ name }: any) => name));
      answer.thinking = thinking();
      const last = body.messages.findLast(({ role }: any) => role === "assistant")?.content;
      const blocks = Array.isArray(last) ? last : [];
      const waiting = blocks.filter(
        ({ type, id }: any) =>
          type === "server_tool_use" && !blocks.some(({ tool_use_id }: any) => tool_use_id === id),
      );
      answer.blocks = waiting.map(({ id }: any) => ({
        type: "web_search_tool_result",
        tool_use_id: id,
        content: [],
      }));
      const id = `srvtoolu_${index}`;
      const named = (name: string): boolean => (body.tools ?? []).some((one: any) => one.name === name);
      if (named("tool_search_tool_bm25") && chance(40)) {
        const found = [{ type: "tool_reference", tool_name: "rare" }];
        const content = { type: "tool_search_tool_search_result", tool_references: found };
        answer.blocks.push({
          type: "server_tool_use",
          id,
          name: "tool_search_tool_bm25",
          input: { query: "r" },
        });
        answer.blocks.push({ type: "tool_search_tool_result", tool_use_id: id, content });
      } else if (named("web_search") && chance(40)) {
        answer.blocks.push({ type: "server_tool_use", id, name: "web_search", input: { query: "q" } });
        if (answer.calls === undefined || chance(50))
          answer.blocks.push({ type: "web_search_tool_result", tool_use_id: id, content: [] });
      }
      return answer;
    },
  };
  const claude = servers.anthropicServer(claudeOptions);
  const converse = servers.anthropicServer({ ...claudeOptions, platform: "bedrock" });
  const google = googleServer((names) => said(names));
  const gpt = servers.openaiServer({
    script(index: number, body: any) {
      const added = body.input.flatMap((item: any) => (item.type === "additional_tools" ? item.tools : []));
      const answer: any = said([...(body.tools ?? []), ...added].map(({ name }: any) => name));
      const reasoning = thinking();
      const isSearching = (body.tools ?? []).some(({ type }: any) => type === "web_search") && chance(40);
      const action = { type: "search", query: "q" };
      const call = { type: "web_search_call", id: `ws_${index}`, status: "completed", action };
      return { ...answer, reasoning, ...(isSearching ? { items: [call] } : {}) };
    },
  });

  const oracles = {
    Anthropic: new Oracle("Anthropic"),
    Bedrock: new Oracle("Anthropic"),
    OpenAI: new Oracle("OpenAI"),
  };
  let org = "org_1";
  /** A fetch that watches what the server takes. Requests of agents that run at the same time come one by one. */
  let busy: Promise<unknown> = Promise.resolve();
  const watched =
    (server: any, vendor: keyof typeof oracles) =>
    (url: string, init: RequestInit): Promise<Response> => {
      const response = busy.then(() => asked(server, vendor, url, init));
      busy = response.catch(() => {});
      return response;
    };
  const asked = async (
    server: any,
    vendor: keyof typeof oracles,
    url: string,
    init: RequestInit,
  ): Promise<Response> => {
    const given = JSON.parse(new TextDecoder().decode(init.body as Uint8Array));
    // The next process may begin before the answer.
    const [from, account] = [place, org];
    const isConverse = vendor === "Bedrock";
    const body = isConverse ? toMessages(url, given) : given;
    if (isStrict && vendor !== "OpenAI") delete body.thinking?.block_binding;
    server.options.org = account;
    const isSummary = body.compaction !== undefined || /\/compact$/.test(url) || isAsked(body, SUMMARY);
    const options = OPTIONS[(body.max_tokens ?? body.max_output_tokens) - FIRST_LIMIT];
    if (options !== undefined && !isSummary) {
      const want = wanted(body.model, options.effort, options.schema);
      const has = settingsOf(body, init.headers);
      const formats = [want.format, hasOthers ? null : want.format].map((format) => JSON.stringify(format));
      if (has.effort !== want.effort || !formats.includes(JSON.stringify(has.format)))
        faults.push(`${from}: ${body.model} has ${JSON.stringify(has)} in place of ${JSON.stringify(want)}`);
    }
    const lost: any[] = server.removed ?? server.dropped;
    const [before, allowed, refused] = [lost.length, server.allowed?.length, server.refused.length];
    const answers = clearing(compacting(server) as never);
    const response = await answers.fetch(url, { ...init, body: JSON.stringify(body) });
    if (server.refused.length > refused) {
      faults.push(`${from}: ${server.refused.at(-1)}`);
      return isConverse ? toConverse(response) : response;
    }
    const now = lost.slice(before);
    for (const { reason, path, id } of [...now, ...(server.allowed?.slice(allowed) ?? [])])
      if (/prefix/.test(reason)) faults.push(`${from}: ${body.model} does not take ${path ?? id}`);
    if (isSummary) return isConverse ? toConverse(response) : response;
    oracles[vendor].note(
      `${from}, request ${server.requests.length}`,
      account,
      body,
      server.answers.at(-1),
      now.length,
    );
    return isConverse ? toConverse(response) : response;
  };
  const googleFetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await google.fetch(url, init);
    if (response.status !== 200) faults.push(`${place}: ${google.refused.at(-1)}`);
    return response;
  };
  const vendors: [
    RegExp,
    (id: string, options: any) => any,
    (url: string, init: RequestInit) => Promise<Response>,
  ][] = [
    [/^claude/, anthropic, watched(claude, "Anthropic")],
    [/^us\./, bedrock, watched(converse, "Bedrock")],
    [/^gpt/, openai, watched(gpt, "OpenAI")],
    [/^gemini/, gemini, googleFetch],
  ];
  const stream = chance(50);
  /** In half of the stories, each model comes with an effort and a format of its own. */
  const hasSettings = chance(50);
  const settings = (): object => {
    if (!hasSettings) return {};
    const at = between(random, 0, OPTIONS.length - 1);
    const { effort, schema } = OPTIONS[at]!;
    const format = schema && { responseFormat: { name: "answer", schema } };
    return { maxOutputTokens: FIRST_LIMIT + at, ...(effort && { effort }), ...format };
  };
  /** A model of a process, which reaches nothing once the process has ended. */
  const modelOf = (process: Process): any => {
    const id = pick(...pool);
    const [, make, answers] = vendors.find(([names]) => names.test(id))!;
    const fetch = (url: string, init: RequestInit): Promise<Response> =>
      process.isDead ? never : answers(url, init);
    const isWhole = make === bedrock || make === gemini;
    const place = make === bedrock ? { region: "eu-central-1" } : {};
    const options = make === gemini ? {} : settings();
    return make(id, { apiKey: "k", fetch, stream: stream && !isWhole, ...place, ...options });
  };

  const look = (description = "x", more = {}): any =>
    tool({
      description,
      inputSchema: { type: "object" },
      execute: () => `result ${"r".repeat(300)}`,
      replay: "safe",
      ...more,
    });
  const context = (): object => {
    const kind = pick("", "", "", "window", "pruning");
    if (kind === "window") return { context: { window: 10_000 } };
    if (kind === "") return {};
    const by = pick("vendor", "looplet");
    // Only Claude's own API hides anything, so looplet prunes elsewhere.
    if (by === "looplet" || pool.some((id) => !id.startsWith("claude"))) used.prunes = true;
    return { context: { pruning: { by, afterResponses: 2, prefixChars: 20 } } };
  };
  const prepare = (model: () => unknown): object => {
    const at = between(random, 1, 4);
    const changes = pick<(messages: readonly Message[]) => object>(
      () => ({ system: "Prepared." }),
      () => ({ system: "" }),
      () => ({ tools: ["look"] }),
      () => ({ tools: [] }),
      () => ({ toolChoice: "none" }),
      () => ({ model: model() }),
      (messages) => ({ messages }),
      (messages) => ({ messages: [...messages, { role: "user", content: "A reminder." }] }),
      (messages) => ({ messages: messages.slice(-1) }),
      (messages) => ({ messages: [{ role: "user", content: "First." }, ...messages] }),
    );
    const isOnce = chance(50);
    return {
      prepareIteration: ({ iteration, messages }: any) =>
        (isOnce ? iteration === at : iteration >= at) ? changes(messages) : undefined,
    };
  };
  const system = (): object =>
    pick<object>({ system: "S" }, { system: "S" }, { system: "T" }, {}, { system: "U".repeat(4000) });
  const deploy = (process: Process): Agent<any, any> => {
    const model = (): any => modelOf(process);
    const other = createAgent({
      model: model(),
      ...system(),
      tools: { look: look(), ...pick({}, { more: look() }) },
    });
    const tools: { [name: string]: any } = { look: look(pick("x", "x", "x", "y")) };
    if (chance(30)) tools["more"] = look();
    if (chance(20))
      for (const name of pick(["mcp_a"], ["mcp_a", "mcp_b"], ["mcp_b", "mcp_a"])) tools[name] = look(name);
    if (chance(20)) tools["rare"] = look("Is rare", { deferLoading: true });
    if (chance(10)) tools["rare2"] = look("Is rare too", { deferLoading: true });
    if (chance(15)) tools["search"] = vendorTool(anthropicTools.webSearch({ maxUses: pick(2, 3) }));
    if (chance(15)) tools["web"] = vendorTool(openaiTools.webSearch({}));
    if (has.handoff) tools["to_other"] = handoff(other as never, { description: "to the other" });
    if (has.helper)
      tools["helper"] = subagent({
        description: "Helps",
        persistent: chance(60),
        ...system(),
        ...(chance(50) ? { model: model() } : {}),
        tools: { look: look() },
      } as never);
    return createAgent({
      store: process.store,
      clock,
      // Three of four processes may end while a tool runs.
      durable: { reconcile: () => ({ outcome: "run" }), maxCrashes: 4 },
      model: model(),
      ...system(),
      tools: chance(15) ? Object.fromEntries(Object.entries(tools).reverse()) : tools,
      limits: { maxIterations: 7, repeat: false },
      ...(chance(10) ? { sharedInstructions: "Shared." } : {}),
      ...context(),
      ...(chance(40) ? prepare(model) : {}),
    } as never);
  };

  const pruned = new Set<string>();
  const notePruned = (messages: readonly Message[]): void => {
    for (const { compacted, content } of messages as any[])
      if (compacted) for (const block of content) pruned.add(block.id ?? block.text ?? "");
  };
  const watch = async (run: Run<any, any>, process: Process): Promise<void> => {
    for await (const event of run) {
      if (process.isDead) return;
      if (event.type === "iteration-finish" && chance(10)) run.setModel(modelOf(process));
      if (event.type === "tool-result" && chance(10)) steered(run);
      if (event.type === "warning" && /reasoning_(refused|dropped)|not_appended/.test(event.code)) {
        const mayBe = /(organization|model)_(binding_)?mismatch/.test(event.message);
        if (!mayBe) faults.push(`${place}: ${event.code} ${event.message}`);
      }
    }
    const { outcome, stoppedBy, error } = (await run.result) as any;
    const isEnd = outcome === "completed" || stoppedBy === "iterations";
    if (!isEnd) faults.push(`${place}: ${outcome} ${error?.message ?? stoppedBy}`);
  };

  const kept = memoryStore();
  const isChat = chance(75);
  let history: { messages?: readonly Message[]; subagents?: unknown } = {};
  for (let at = 1; at <= 4; at++) {
    place = `seed ${seed}, process ${at}`;
    if (chance(10)) org = pick("org_1", "org_2");
    const process = new Process(kept, isChat && chance(30) ? between(random, 1, 12) : Infinity);
    const agent = deploy(process);
    const work = async (): Promise<void> => {
      if (!isChat) {
        const given = history.messages && { messages: [...history.messages], subagents: history.subagents };
        const run = agent.run(`Prompt ${at}.`, given as never);
        await watch(run, process);
        history = JSON.parse(JSON.stringify((await run.result) as never));
        return notePruned(history.messages ?? []);
      }
      const chat = await agent.openChat("c", listeners);
      if (chat.current !== undefined) await watch(chat.current, process);
      await watch(chat.run(`Prompt ${at}.`, listeners), process);
      await chat.saved();
      notePruned(chat.messages);
      await chat.close();
    };
    await Promise.race([process.death, work()]).catch((error: unknown) =>
      faults.push(`${place}: ${String(error)}`),
    );
  }
  for (const oracle of Object.values(oracles))
    for (const request of oracle.requests) {
      const could = couldRead(request, pruned);
      if (could > request.read && !used.prunes)
        faults.push(`${request.place}: ${request.model} has read ${request.read} of ${could} blocks`);
    }
  return faults;
}

const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

const OPTIONS = [undefined, "low", "high", "max"].flatMap((effort) => [
  { effort, schema: undefined },
  { effort, schema: SCHEMA },
]);
/** The output limit of a model with the first of these options. So a request says which ones it has to have. */
const FIRST_LIMIT = 500;

/** The beginning of what a model is asked that summarises. Changes of the head may follow it. */
const SUMMARY = "Stop here and write a summary of this conversation";
const isAsked = (body: any, words: string): boolean =>
  JSON.stringify((body.messages ?? body.input).findLast(({ role }: any) => role === "user")).includes(words);

/** Retries come at the next task. Nothing waits for a timeout. */
const clock = {
  now: () => 1_000_000,
  setTimer: (due: () => void, delayMs: number) => (delayMs > 2000 ? undefined : setImmediate(due)),
  clearTimer: (timer: unknown) => clearImmediate(timer as NodeJS.Immediate),
};

/** A call of a tool that a deploy has removed is answered with an error, and the program is told. */
const listeners = { onError: () => {} };

/** Says one thing more, unless the run has ended while its events were read. */
function steered(run: Run<any, any>): void {
  try {
    run.steer("also this");
  } catch (error) {
    if ((error as { code?: string }).code !== "misuse_run_ended") throw error;
  }
}

const never = new Promise<never>(() => {});

/** A process that ends before one of its writes. Nothing that it does after that reaches anything. */
class Process {
  isDead = false;
  readonly death: Promise<void>;
  readonly store: Store;

  constructor(inner: Store, writes: number) {
    let die = (): void => {};
    this.death = new Promise((resolve) => (die = resolve));
    let left = writes;
    this.store = {
      append: async (key, entries, expectedSeq) => {
        if (left-- <= 0) {
          this.isDead = true;
          die();
        }
        return this.isDead ? never : inner.append(key, entries, expectedSeq);
      },
      load: (key) => (this.isDead ? never : inner.load(key)),
    };
  }
}
