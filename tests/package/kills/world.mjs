// What outlives the processes of a run that are killed: the services that it uses, and who kills.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { seeded } from "../../../bench/random.mjs";

/** The deaths on a store of Node, and the seed of their moments. Others are a share of them. */
export const KILLS = Number(process.env.LOOPLET_KILLS || 30);
export const SEED = Number(process.env.LOOPLET_SEED || 1);

/** Longer than a lease. */
export const LEASE_IS_OUT_MS = 100_000;

/** A process that makes no progress is a failure. */
const PATIENCE_MS = 60_000;

/** The ids of the calls that may be repeated. */
const READS = ["a", "b", "e"];

/** The effects of a run, and the processes that have worked for it. */
export class World {
  /** How often each call has had its effect. */
  effects = {};
  /** The effects that the service has refused, because their process had a lower fence than another one. */
  refused = 0;
  /** How often the service was asked whether a call had its effect. */
  questions = 0;
  /** How often deaths have stopped the run. */
  stops = 0;
  lives = [];
  #fence = 0;

  /** A life to come, which is held at its step number `cut`. */
  begin(cut = Infinity) {
    const life = new Life(`/life/${this.lives.length}`, cut);
    this.lives.push(life);
    return life;
  }

  /** Answers a request of a life: `/life/<number>/<what>?…`. */
  hear = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://world.test");
    const [, , number, what] = pathname.split("/");
    const life = this.lives[number];
    const answer = (value, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (what === "step") return life.step(searchParams.get("name"), () => answer(true));
    if (what === "end") {
      let body = "";
      for await (const bytes of request) body += bytes;
      answer(true);
      return life.end(JSON.parse(body));
    }
    if (what === "stops") {
      this.stops = Math.max(this.stops, Number(searchParams.get("count")));
      return answer(true);
    }
    // The service keeps the highest fence that it has seen, as docs/tasks/runs-that-survive.md says.
    const fence = Number(searchParams.get("fence"));
    const id = searchParams.get("id");
    if (searchParams.get("once") !== "false") {
      if (fence < this.#fence) return (this.refused++, answer("another process has this run", 409));
      this.#fence = fence;
    }
    if (what === "find") return (this.questions++, answer(id in this.effects));
    this.effects[id] = (this.effects[id] ?? 0) + 1;
    answer(`done ${id}`);
  };

  /**
   * The run has completed and is saved, and has everything that the run of a process has that nobody kills. No effect
   * has happened twice, and none is missing. Reading may be repeated.
   */
  assertWhole({ outcome, unsaved, end }, whole, message) {
    assert.deepEqual([outcome, unsaved, end.problems], ["completed", undefined, []], message);
    assert.deepEqual(end, whole, message);
    for (const [id] of end.calls) {
      const times = this.effects[id] ?? 0;
      assert.ok(READS.includes(id) ? times > 0 : times === 1, `${message}: ${id} had ${times} effects`);
    }
  }
}

/** What a process has done so far. */
class Life {
  steps = [];
  #wake;
  #change;
  /** The end that the process has told. */
  told;

  constructor(path, cut) {
    this.path = path;
    this.cut = cut;
    this.#turn();
  }

  /** Resolves with `{ heldAt }` at the step that is held, or with the end that the process has told. Rejects for `fail`. */
  get over() {
    const late = new Promise((_, reject) => {
      const timer = setTimeout(() => reject(new Error(`no progress after ${this.steps}`)), PATIENCE_MS);
      void this.#change.promise.then(
        () => clearTimeout(timer),
        () => clearTimeout(timer),
      );
    });
    return Promise.race([this.#change.promise, late]);
  }

  step(name, answer) {
    if (this.steps.push(name) - 1 !== this.cut) return answer();
    this.#wake = answer;
    this.#change.resolve({ heldAt: name });
  }

  /** Answers the step that is held: the process goes on, and `over` is its end. */
  letGo() {
    this.#turn();
    this.#wake();
  }

  end(told) {
    this.told = told;
    this.#change.resolve(told);
  }

  /** The process has gone by itself. */
  fail = (error) => {
    if (this.told === undefined) this.#change.reject(error);
  };

  #turn() {
    this.#change = Promise.withResolvers();
    this.#change.promise.catch(() => {});
  }
}

/** Serves `hear()`, the handler of the world of now, at an address for processes. */
export async function serve(hear) {
  // A connection that waits for a busy process must not be closed at the moment of its next request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => hear()(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/**
 * Kills processes of runs until `count` have died, and looks at the end of each run. `inWorld(use)` calls `use(world,
 * begin)` with a world and a store of its own; `begin(life)` begins a process and resolves with `kill()`, which
 * resolves when the process is gone. Half of the processes are killed while they wait at a step, the others some
 * milliseconds after it.
 */
export async function killAtRandom(context, name, count, inWorld) {
  const random = seeded(SEED);
  const whole = await wholeLife(inWorld);
  const seen = new Set();
  const sums = { deaths: 0, runs: 0, questions: 0, refused: 0, stops: 0 };
  while (sums.deaths < count) {
    await inWorld(async (world, begin) => {
      const where = [];
      const messageOf = () => `LOOPLET_SEED=${SEED}, run ${sums.runs}, killed at ${where.join(", ")}`;
      const deaths = random.between(1, 8);
      let end;
      while (end === undefined) {
        const life = world.begin(
          where.length < deaths ? random.between(0, whole.steps.length / 2) : Infinity,
        );
        const kill = await begin(life);
        const over = await life.over.catch((error) => {
          throw new Error(messageOf(), { cause: error });
        });
        if (over.heldAt !== undefined && random.between(0, 1) === 0) {
          life.letGo();
          await new Promise((resolve) => setTimeout(resolve, random.between(0, 10)));
        }
        await kill();
        end = life.told;
        if (end !== undefined) continue;
        where.push(`${life.cut} (${over.heldAt})`);
        seen.add(over.heldAt);
      }
      world.assertWhole(end, whole.end, messageOf());
      sums.runs += 1;
      sums.deaths += where.length;
      sums.questions += world.questions;
      sums.refused += world.refused;
      sums.stops += world.stops;
    });
  }
  context.diagnostic(`LOOPLET_SEED=${SEED}, killed at ${[...seen].sort().join(", ")}`);
  report(
    name,
    `${sums.deaths} deaths in ${sums.runs} runs, 0 effects twice, ${sums.questions} questions, ${sums.stops} stops taken up, ${sums.refused} late effects refused`,
  );
  assert.ok(seen.size >= Math.min(8, count / 4), [...seen].join());
}

/**
 * Lets `count` processes stand still while the world answers them, which is the latency of the store or of a service.
 * A successor ends their runs, and then they wake. `inWorld` is as in `killAtRandom`, and calls `use(world, begin,
 * pass)`: `pass()` lets the time of a lease pass. What `begin` resolves with has `standStill()` and `wake()`.
 */
export async function freezeAtRandom(context, name, count, inWorld) {
  const random = seeded(SEED);
  const whole = await wholeLife(inWorld);
  const sums = { frozen: 0, questions: 0, refused: 0, cancelled: 0 };
  const seen = new Set();
  while (sums.frozen < count) {
    await inWorld(async (world, begin, pass) => {
      const frozen = world.begin(random.between(0, whole.steps.length - 1));
      const process = await begin(frozen);
      const { heldAt } = await frozen.over;
      // The number of saves differs a little.
      if (heldAt === undefined) return;
      const message = `LOOPLET_SEED=${SEED}, process ${sums.frozen}, stood still at ${frozen.cut} (${heldAt})`;
      await process.standStill();
      await pass();
      const next = world.begin();
      await begin(next);
      const again = await next.over;
      world.assertWhole(again, whole.end, message);
      frozen.letGo();
      await process.wake();
      const woken = await frozen.over;
      // It had ended already, or ends again with the result of its successor.
      if (woken.outcome === "completed") assert.deepEqual(woken.end, whole.end, message);
      else assert.equal(woken.outcome, "cancelled", message);
      world.assertWhole(again, whole.end, message);
      // Nothing in a process can see that it stood still in the middle of a tool.
      if (heldAt !== "before effect") assert.equal(world.refused, 0, message);
      seen.add(heldAt);
      sums.frozen += 1;
      sums.questions += world.questions;
      sums.refused += world.refused;
      sums.cancelled += Number(woken.outcome === "cancelled");
    });
  }
  context.diagnostic(`LOOPLET_SEED=${SEED}, stood still at ${[...seen].sort().join(", ")}`);
  report(
    name,
    `${sums.frozen} frozen processes, 0 effects twice, ${sums.questions} questions, ${sums.refused} effects refused by their fence, ${sums.cancelled} woken runs cancelled`,
  );
}

/** The end and the steps of a process that nobody kills. */
async function wholeLife(inWorld) {
  let whole;
  await inWorld(async (world, begin) => {
    const life = world.begin();
    const kill = await begin(life);
    const told = await life.over;
    await kill();
    whole = { end: told.end, steps: life.steps };
    world.assertWhole(told, told.end);
  });
  return whole;
}

/** The line that the note of an issue quotes. */
function report(name, text) {
  console.log(`kills: ${name} ${text}`);
}
