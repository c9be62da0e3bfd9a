// A run and a chat whose store is faulty, and whose process dies, at each of their appends; for a store of any host.
import { expected, expectedChat, payingAgent, told } from "./durable-run.mjs";

/** What happens to one append. `append()` performs it, and `die()` ends the process. */
const faults = {
  "fails before it has written": () => {
    throw new Error("connection lost");
  },
  "fails after it has written": async (append) => {
    await append();
    throw new Error("connection lost");
  },
  "is the last thing that is not done": (_, die) => die(),
  "is the last thing that is done": async (append, die) => {
    await append();
    return die();
  },
};

/** Waits take no time, except those for a lease, which nobody here waits for. */
const clock = {
  now: () => Date.now(),
  setTimer: (callback, delayMs) => (delayMs < 5000 ? setTimeout(callback, 0) : undefined),
  clearTimer: (timer) => clearTimeout(timer),
};

/** A process on the store: nothing that it does after its death reaches anything. */
class Life {
  appends = 0;
  #isDead = false;
  #lose;
  /** Resolves at its death. */
  lost = new Promise((resolve) => (this.#lose = resolve));

  constructor(looplet, kept, prefix, counts, fault = {}) {
    const alive = async (work) => {
      if (this.#isDead) return new Promise(() => {});
      const value = await work();
      return this.#isDead ? new Promise(() => {}) : value;
    };
    const die = () => {
      this.#isDead = true;
      this.#lose("dead");
      return new Promise(() => {});
    };
    const store = {
      append: (key, ...args) => {
        const append = () => alive(() => kept.append(prefix + key, ...args));
        return this.appends++ === fault.at ? alive(() => faults[fault.name](append, die)) : append();
      },
      load: (key) => alive(() => kept.load(prefix + key)),
      ...(kept.lease && {
        lease: (key, options) => alive(() => kept.lease(prefix + key, options)),
        pending: () => alive(() => kept.pending()),
      }),
    };
    const effects = {
      has: async (id) => alive(() => counts[id] > 0),
      add: async (id) => alive(() => (counts[id] = (counts[id] ?? 0) + 1)),
    };
    this.agent = payingAgent(looplet, { store, effects, clock });
  }
}

/** The result of a run, when the store has it. */
async function ended(run) {
  const result = await run.result;
  await run.saved();
  return result;
}

/** The ways of a process, each to the words of its end. */
const kinds = {
  run: {
    expected,
    begin: ({ agent }) => ended(agent.run("Pay.", { id: "order" })),
    async goOn({ agent }) {
      const result = await ended(agent.resume("order"));
      // A prompt that was not saved is given again.
      return result.outcome === "failed" && result.iterations === 0 ? kinds.run.begin({ agent }) : result;
    },
    told,
  },
  chat: {
    expected: expectedChat,
    begin: (life) => kinds.chat.goOn(life),
    async goOn({ agent }) {
      const chat = await agent.openChat("chat");
      await chat.current?.result;
      const said = chat.messages.map(({ content }) => content[0].text);
      for (const prompt of ["Hi.", "Pay.", "Bye."]) if (!said.includes(prompt)) await chat.run(prompt).result;
      await chat.saved();
      return chat.messages.flatMap(({ content }) => content.map(({ text, type }) => text ?? type)).join(" ");
    },
    told: (text) => text,
  },
};

/**
 * Tries a store out, which `make` makes with a function that tells the time. Rejects with the first case that comes
 * to another end, and resolves with the number of cases.
 */
export async function checkKills(looplet, make) {
  let cases = 0;
  let now = Date.now();
  const store = await make(() => now);
  for (const [kind, { begin, goOn, told, expected }] of Object.entries(kinds)) {
    for (const name of Object.keys(faults)) {
      for (let at = 0; ; at++, cases++) {
        const prefix = `${kind} ${name} ${at} `.replaceAll(" ", "-");
        const counts = {};
        const life = new Life(looplet, store, prefix, counts, { name, at });
        let end = await Promise.race([begin(life), life.lost]);
        if (life.appends <= at) break;
        // The process is gone and its lease runs out, or the next one looks at what it has left.
        now += 100_000;
        const next = new Life(looplet, store, prefix, counts);
        const again = await goOn(next);
        if (end === "dead") end = again;
        const ends = [told(end), told(again), JSON.stringify(counts)];
        if (ends.some((text, index) => text !== [expected, expected, '{"b":1}'][index]))
          throw new Error(`${kind}, append ${at} ${name}: ${ends.join(" | ")}`);
      }
    }
  }
  return cases;
}
