// Receipts: what a run has done, proved to somebody who was not there.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createAgent,
  custom,
  subagent,
  tool,
  type Agent,
  type AgentOptions,
  type JournalEntry,
} from "looplet";
import { receipts, verify, type Receipt, type ReceiptStore, type RunPolicy } from "looplet/receipts";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";

afterEach(() => vi.restoreAllMocks());

const look = tool({ description: "look", inputSchema: { type: "object" }, execute: () => "seen" });
const pay = tool({
  description: "pay",
  inputSchema: { type: "object" },
  needsApproval: true,
  execute: () => "paid",
});

function agentWith(options: Partial<AgentOptions> = {}): Agent {
  const model = custom(function* ({ messages }) {
    const asked = messages.filter(({ role }) => role === "assistant").length;
    if (asked === 0) yield { type: "tool_call", id: "a", name: "look", input: {} };
    else if (asked === 1) {
      yield { type: "tool_call_start", id: "b", name: "pay" };
      // A number that JSON would write in another way.
      yield { type: "tool_call_delta", text: '{"eur":5.0}' };
    } else yield "It is paid.";
    yield { type: "usage", inputTokens: 10, outputTokens: 5 };
  });
  const permissions = { allow: ["look"], canUseTool: () => ({ behavior: "allow" }) as const };
  return createAgent({
    model,
    tools: { look, pay },
    permissions,
    record: recorder(),
    ...options,
  } as AgentOptions);
}

/** A run with receipts: its file, its journal, and the receipt of each save. */
async function paid(options: Partial<AgentOptions> = {}, more: Parameters<typeof receipts>[1] = {}) {
  const told: Receipt[] = [];
  const store = receipts(memoryStore(), { ...more, onReceipt: (receipt) => void told.push(receipt) });
  const run = agentWith({ store, ...options }).run("Pay.");
  await run.result;
  await run.saved();
  return { file: run.export(), told, store, id: run.id, journal: [...(await store.load(run.id))!] };
}

/** The names of the checks that have failed. */
async function failed(...args: Parameters<typeof verify>): Promise<string[]> {
  return (await verify(...args)).checks.flatMap(({ name, passed }) => (passed ? [] : [name]));
}

describe("receipts", () => {
  it("prove a journal, up to each of its saves", async () => {
    const { file, told, store, id, journal } = await paid();
    expect(told.length).toBeGreaterThan(3);
    expect(await store.receipt(id)).toEqual(told.at(-1));
    expect(told.at(-1)).toMatchObject({ receipt: 1, journal: id, entries: journal.length });
    const { passed, checks } = await verify(file, { receipts: told, journal });
    expect(checks.map(({ name }) => name)).toEqual(["replay", "journal", "receipts"]);
    expect(checks.at(-1)!.says).toBe(`${journal.length} entries are unchanged`);
    expect(passed).toBe(true);
  });

  it("show every change, loss and addition of an entry", async () => {
    const { file, told, journal } = await paid();
    const changed = (at: number): JournalEntry[] => {
      const { seq, json: text } = journal[at]!;
      const json = text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10));
      return journal.map((entry) => (entry.seq === seq ? { seq, json } : entry));
    };
    const others = [
      ...journal.map((_, at) => changed(at)),
      ...journal.map((_, at) => journal.filter((__, other) => other !== at)),
      [...journal, { seq: journal.length + 1, json: "{}" }],
    ];
    const { journal: key } = told[0]!;
    for (const other of others) {
      expect(await failed(file, { journal: other })).toEqual(["journal"]);
      // A journal without its end is proved as far as it goes, and one with a gap has no receipt.
      if (other.length < journal.length) continue;
      const store = receipts(memoryStore());
      await store.append(key, other, 0);
      expect(await failed(file, { receipts: [(await store.receipt(key))!] })).toEqual(["receipts"]);
    }
    const store = receipts(memoryStore());
    await expect(Promise.resolve(store.append(key, journal.slice(1), 0))).rejects.toThrow(
      "entries are missing",
    );
  });

  it("stand for all entries: of a file that goes on behind the last one nothing passes", async () => {
    const { file, told, journal } = await paid();
    const { checks } = await verify(file, { receipts: told.slice(0, -1) });
    const rest = journal.length - told.at(-2)!.entries;
    expect(checks.at(-1)).toEqual({
      name: "receipts",
      passed: false,
      says: `no receipt covers the last ${rest} of ${journal.length} entries`,
    });
  });

  it("show a file that was changed", async () => {
    const { file, told } = await paid();
    for (const [from, to] of [
      ["5.0", "6.0"],
      ["seen", "sewn"],
      ['"Pay."', '"Pay!"'],
    ] as const) {
      expect(file).toContain(from);
      expect(await failed(file.replaceAll(from, to), { receipts: told })).toContain("receipts");
    }
  });

  it("go on in another process, from what the store has", async () => {
    const inner = memoryStore();
    const dying = new AbortController();
    const before: Receipt[] = [];
    const kept = receipts(inner, { onReceipt: (receipt) => void before.push(receipt) });
    const first = agentWith({ store: kept, permissions: { allow: ["look"] } });
    const asked = first.run("Pay.", {
      onEvent: ({ type }) => type === "waiting" && dying.abort(),
    });
    await new Promise((resolve) => dying.signal.addEventListener("abort", resolve));
    await asked.saved();
    await first.close({ recoverable: true });
    const store = receipts(inner);
    const again = agentWith({ store }).resume(asked.id);
    const { outcome } = await again.result;
    await again.saved();
    expect(outcome).toBe("completed");
    const receipt = (await store.receipt(asked.id))!;
    expect(receipt.unseen).toBe(before.at(-1)!.entries);
    const { checks } = await verify(again.export(), {
      receipts: [receipt, before.at(-1)!],
      journal: await inner.load(asked.id),
    });
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    // Without the receipt of the process that wrote them, the first entries could be anyone's.
    expect(await failed(again.export(), { receipts: [receipt] })).toEqual(["receipts"]);
  });

  it("need a file whose processes follow each other, and that ends as the engine does", async () => {
    const store = memoryStore();
    const waiting = new AbortController();
    const first = agentWith({ store, permissions: { allow: ["look"] } });
    const begun = first.run("Pay.", { onEvent: ({ type }) => type === "waiting" && waiting.abort() });
    await new Promise((resolve) => waiting.signal.addEventListener("abort", resolve));
    await begun.saved();
    await first.close({ recoverable: true });
    const again = agentWith({ store }).resume(begun.id);
    await again.result;
    const [one, two] = [begun, again].map((run) => JSON.parse(run.export()) as { processes: object[] });
    const joined = JSON.stringify({ ...two, processes: [...one!.processes, ...two!.processes] });
    expect((await verify(joined)).checks).toEqual([expect.objectContaining({ passed: true })]);
    const other = JSON.stringify(two!.processes).replace("seen", "sewn");
    const torn = JSON.stringify({
      ...two,
      processes: [...one!.processes, ...(JSON.parse(other) as object[])],
    });
    expect((await verify(torn)).checks[0]).toMatchObject({
      passed: false,
      says: expect.stringContaining("process 2 went on from another journal"),
    });
    const ended = again.export().replace('"outcome":"completed"', '"outcome":"failed"');
    expect((await verify(ended)).checks[0]).toMatchObject({
      passed: false,
      says: "the file says that the run has ended as failed, and the engine says completed",
    });
  });

  it("are refused for a journal that was changed under the process that wrote it", async () => {
    const { store, id, journal } = await paid();
    const inner = memoryStore();
    const own = receipts(inner);
    await own.append(id, journal.slice(0, 3), 0);
    await inner.delete!(id);
    const other = journal.slice(0, 4).map(({ seq, json }) => ({ seq, json: json.replace("look", "lock") }));
    await inner.append(id, other, 0);
    await expect(Promise.resolve(own.receipt(id))).rejects.toThrow("has other entries up to 3");
    await expect(Promise.resolve(own.append(id, journal.slice(4), 4))).rejects.toThrow("has other entries");
    expect(await store.receipt(id)).toBeDefined();
  });

  it("prove nothing where there is none, or none of this journal", async () => {
    const { file, told, journal } = await paid();
    const isSigned = () => true;
    expect(await failed(file, { receipts: [], isSigned })).toEqual(["receipts", "signatures"]);
    expect(await failed(file, { receipts: [{ ...told[0]!, entries: 0 }] })).toEqual(["receipts"]);
    // The same entries, chained for another key.
    const store = receipts(memoryStore());
    await store.append("another", journal, 0);
    const foreign = (await store.receipt("another"))!;
    expect(await failed(file, { receipts: [foreign] })).toEqual(["receipts"]);
    expect(await failed(file, { receipts: [...told, foreign] })).toEqual(["receipts"]);
    expect(await failed(file, { receipts: [foreign], key: "another" })).toEqual([]);
  });

  it("refuse a policy that could not be broken", async () => {
    const { file } = await paid();
    for (const wrong of [NaN, Infinity, -1, "5", null]) {
      for (const name of ["maxUsd", "maxTokens", "maxIterations", "maxToolCalls"])
        await expect(verify(file, { policy: { [name]: wrong } as never })).rejects.toThrow(`policy.${name}`);
    }
    await expect(verify(file, { policy: { approved: "pay" as never } })).rejects.toThrow("policy.approved");
    await expect(verify(file, { policy: { tools: [7] as never } })).rejects.toThrow("policy.tools");
  });

  it("are signed by your key, and by no other", async () => {
    const keys = async () =>
      (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
        "sign",
        "verify",
      ])) as CryptoKeyPair;
    const algorithm = { name: "ECDSA", hash: "SHA-256" };
    const [own, other] = [await keys(), await keys()];
    const { file, told } = await paid(
      {},
      { sign: (bytes) => crypto.subtle.sign(algorithm, own.privateKey, bytes) },
    );
    const by = (key: CryptoKey) => (bytes: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) =>
      crypto.subtle.verify(algorithm, key, signature, bytes);
    expect(await failed(file, { receipts: told, isSigned: by(own.publicKey) })).toEqual([]);
    expect(await failed(file, { receipts: told, isSigned: by(other.publicKey) })).toEqual(["signatures"]);
    const bare = told.map(({ signature: _, ...receipt }) => receipt);
    expect(await failed(file, { receipts: bare, isSigned: by(own.publicKey) })).toEqual(["signatures"]);
    expect(await failed(file, { isSigned: by(own.publicKey) })).toEqual(["signatures"]);
    const grown = told.map((receipt) => ({ ...receipt, entries: receipt.entries + 1 }));
    expect(await failed(file, { receipts: grown, isSigned: by(own.publicKey) })).toContain("signatures");
  });

  it.each([
    ["null", null],
    ["a text", "receipts"],
    ["an object", { length: 1 }],
    ["a list of nothing", [null]],
    ["a number below 0", { entries: -1 }],
    ["a number beyond all", { entries: 1e300 }],
    ["a head of a number", { head: 7 }],
    ["another version", { receipt: 2 }],
    ["a signature of a list", { signature: [] }],
  ])("that are none are refused: %s", async (_, odd) => {
    const { file, told } = await paid();
    const isField = typeof odd === "object" && odd !== null && !Array.isArray(odd) && !("length" in odd);
    const receipts = (isField ? [...told, { ...told[0], ...odd }] : odd) as Receipt[];
    await expect(verify(file, { receipts })).rejects.toMatchObject({
      name: "LoopletError",
      code: "config_wrong_type",
      field: "receipts",
    });
  });

  it("may be many, in any order, and of names of objects", async () => {
    const { file, told } = await paid();
    const many = Array.from({ length: 200_000 }, () => told.at(-1)!);
    expect(await failed(file, { receipts: [...told, ...many, ...told].reverse() })).toEqual([]);
    const foreign = { ...told[0]!, journal: "__proto__" };
    expect(await failed(file, { receipts: [...told, foreign] })).toEqual(["receipts"]);
  });

  it("stop no run when nobody can keep them", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    const store: ReceiptStore = receipts(memoryStore(), {
      onReceipt: () => Promise.reject(new Error("The archive is full.")),
    });
    const run = agentWith({ store }).run("Pay.");
    expect((await run.result).outcome).toBe("completed");
    await run.saved();
    expect(reported).toHaveBeenCalled();
    expect(await store.receipt(run.id)).toBeDefined();
    expect(await store.receipt("none")).toBeUndefined();
  });

  it.each<[string, unknown, unknown]>([
    ["store", undefined, {}],
    ["sign", memoryStore(), { sign: "key" }],
    ["signs", memoryStore(), { signs: () => {} }],
  ])("name %s in the error for a wrong option", (field, store, options) => {
    expect(() => receipts(store as never, options as never)).toThrow(expect.objectContaining({ field }));
  });
});

describe("a policy", () => {
  it.each<[string, RunPolicy, Partial<AgentOptions>]>([
    ["has an answer for each approval", { approved: ["pay"] }, {}],
    ["knows all tools", { tools: ["look", "p*"] }, {}],
    ["is that of the agent", { agent: agentWith() }, {}],
    ["bounds a run", { maxTokens: 45, maxIterations: 3, maxToolCalls: 2 }, {}],
  ])("that a run has kept: it %s", async (_, policy, options) => {
    const { file } = await paid(options);
    const { passed, checks } = await verify(file, { policy });
    expect(checks.map(({ says }) => says)).toHaveLength(2);
    expect(passed).toBe(true);
  });

  it.each<[string, RunPolicy, Partial<AgentOptions>, string]>([
    [
      "a call that nobody has allowed",
      { approved: ["l*"] },
      {},
      "approvals: the call a of look ran, and no answer had allowed it",
    ],
    [
      "a tool that is not in the list",
      { tools: ["look"] },
      {},
      "tools: pay was called, which is not in the list",
    ],
    ["more tokens", { maxTokens: 44 }, {}, "budget: the run has used 45 tokens"],
    ["a cost that nobody knows", { maxUsd: 1 }, {}, "budget: the cost of the run is unknown"],
    ["more iterations", { maxIterations: 2 }, {}, "budget: 3 iterations began"],
    ["more calls", { maxToolCalls: 1 }, {}, "budget: 2 calls ran"],
    [
      "other limits",
      { agent: agentWith({ limits: { maxIterations: 9 } }) },
      {},
      'policy: limits were not set, and the agent has {"maxIterations":9}',
    ],
    [
      "other rules",
      { agent: agentWith({ permissions: { allow: ["look"] } }) },
      {},
      "policy: permissions were",
    ],
    [
      "other approvals",
      { agent: agentWith({ tools: { look } }) },
      {},
      'policy: tools that want an approval were ["pay"], and the agent has []',
    ],
  ])("that a run has broken: %s", async (_, policy, options, says) => {
    const { file } = await paid(options);
    const broken = (await verify(file, { policy })).checks.filter(({ passed }) => !passed);
    expect(broken.map((check) => `${check.name}: ${check.says}`)).toEqual([expect.stringContaining(says)]);
  });

  it("knows the approvals of a subagent, and calls of an id that comes again", async () => {
    // Both agents call under the id of the same call, and a person denies the second one.
    const model = custom(function* ({ messages, system }) {
      const asked = messages.filter(({ role }) => role === "assistant").length;
      const isHelper = system === "You pay.";
      if (asked === 0 && !isHelper)
        yield { type: "tool_call", id: "b", name: "helper", input: { prompt: "Pay." } };
      else if (asked < 2) yield { type: "tool_call", id: "b", name: "pay", input: { eur: asked } };
      else yield "Done.";
    });
    const answers = ["allow", "deny", "allow"];
    const permissions = {
      allow: ["helper"],
      canUseTool: () =>
        answers.shift() === "allow"
          ? ({ behavior: "allow" } as const)
          : ({ behavior: "deny", message: "No." } as const),
    };
    const helper = subagent({ model, description: "pays", system: "You pay.", tools: { pay } });
    const run = createAgent({ model, tools: { helper, pay }, permissions, record: recorder() }).run("Pay.");
    const { outcome, toolCalls } = await run.result;
    expect([outcome, answers.length, toolCalls.length]).toEqual(["completed", 0, 2]);
    const { checks } = await verify(run.export(), { policy: { approved: ["pay"], maxToolCalls: 3 } });
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it("counts two calls with one id as two", async () => {
    const model = custom(function* ({ messages }) {
      if (messages.length < 4) yield { type: "tool_call", id: "a", name: "look", input: {} };
      else yield "Done.";
    });
    const run = createAgent({ model, tools: { look }, record: recorder() }).run("Look.");
    await run.result;
    expect(await failed(run.export(), { policy: { maxToolCalls: 2 } })).toEqual([]);
    expect(await failed(run.export(), { policy: { maxToolCalls: 1 } })).toEqual(["budget"]);
  });

  it("shows a mode, a limit and rules that were changed while the run went on", async () => {
    const changes = [
      (run: ReturnType<Agent["run"]>) => run.setPermissionMode("acceptEdits"),
      (run: ReturnType<Agent["run"]>) => run.addBudget({ maxIterations: 5 }),
    ];
    for (const change of changes) {
      const run = agentWith().run("Pay.", { onEvent: ({ type }) => type === "tool-call" && change(run) });
      await run.result;
      expect(await failed(run.export(), { policy: { agent: agentWith() } })).toEqual(["policy"]);
    }
    const permissions = {
      allow: ["look"],
      canUseTool: () => ({
        behavior: "allow" as const,
        updatedPermissions: [{ type: "addRules", behavior: "allow", rules: ["pay"], destination: "session" }],
      }),
    };
    const options = { permissions } as unknown as Partial<AgentOptions>;
    const run = agentWith(options).run("Pay.");
    await run.result;
    expect(await failed(run.export(), { policy: { agent: agentWith(options) } })).toEqual(["policy"]);
  });

  it("is that of every agent of the run, also where a function says what wants an approval", async () => {
    const made = (own: AgentOptions["tools"], helper: object = {}): Agent => {
      const model = custom(({ messages }) => {
        const isAsked = messages.some(({ role }) => role === "assistant");
        return isAsked ? "Done." : [{ type: "tool_call", id: "a", name: "look", input: {} }];
      });
      const pal = subagent({ model, description: "helps", tools: { look }, ...helper });
      return createAgent({ model, tools: { look, pal, ...own }, record: recorder() } as AgentOptions);
    };
    const asking = tool({ ...look, needsApproval: () => true });
    const run = made({}).run("Look.");
    await run.result;
    const says = async (agent: Agent): Promise<string[]> =>
      (await verify(run.export(), { policy: { agent } })).checks.flatMap(({ says, passed }) =>
        passed ? [] : [says],
      );
    expect(await says(made({}))).toEqual([]);
    expect(await says(made({ look: asking }))).toEqual([expect.stringContaining('the agent has ["look"]')]);
    for (const helper of [
      { limits: { maxIterations: 1 } },
      { tools: { look: asking } },
      { tools: { look: tool({ ...look, needsApproval: true }) } },
    ])
      expect(await says(made({}, helper))).toEqual([expect.stringContaining("of the agent pal")]);
  });

  it("shows limits that `onLimit` has raised, and rules in an answer with another input", async () => {
    const limited = { limits: { maxIterations: 1, onLimit: () => ({ maxIterations: 5 }) } };
    const permissions = {
      ask: ["pay(domain:x.test)"],
      allow: ["look"],
      canUseTool: () => ({
        behavior: "allow" as const,
        updatedInput: { url: "https://y.test" },
        updatedPermissions: [
          { type: "addRules", behavior: "allow", rules: ["look"], destination: "session" },
        ],
      }),
    };
    const inputSchema = { type: "object", properties: { url: { type: "string" } } } as const;
    const tools = { look, pay: tool({ ...pay, inputSchema, access: "fetch" }) };
    for (const [options, says] of [
      [limited, "an answer has raised limits"],
      [{ permissions, tools }, "an answer has changed the permissions"],
    ] as const) {
      const given = options as unknown as Partial<AgentOptions>;
      const run = agentWith(given).run("Pay.");
      expect(await run.result).toMatchObject({ outcome: "completed" });
      const { checks } = await verify(run.export(), {
        policy: { agent: agentWith(given), approved: ["pay"] },
      });
      expect(checks.filter(({ passed }) => !passed).map((check) => check.says)).toEqual([
        expect.stringContaining(says),
      ]);
    }
  });

  it("of tokens is broken by an answer without a report", async () => {
    const model = custom(function* ({ messages }) {
      if (messages.length > 1) return yield "Done.";
      yield { type: "tool_call", id: "a", name: "look", input: {} };
      yield { type: "usage", inputTokens: 1, outputTokens: 1 };
    });
    const run = createAgent({ model, tools: { look }, record: recorder() }).run("Look.");
    await run.result;
    expect(await failed(run.export(), { policy: { maxTokens: 1000 } })).toEqual(["budget"]);
  });

  it.each<[string, object]>([
    ["receipts", { receipts: [{ head: "x" }] }],
    ["policy.agent", { policy: { agent: {} } }],
    ["policy.maxUSD", { policy: { maxUSD: 1 } }],
    ["policy.approved", { policy: { approved: [""] } }],
  ])("names %s in the error for a wrong option", async (field, options) => {
    const { file } = await paid();
    await expect(verify(file, options)).rejects.toThrow(expect.objectContaining({ field }));
  });

  it("refuses a text that is no file of a run", async () => {
    await expect(verify("{}")).rejects.toThrow(expect.objectContaining({ code: "misuse_run_file" }));
  });
});
