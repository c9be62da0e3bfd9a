/**
 * Journals that are damaged where they lie. The person of a {@link World} knows which calls have had their effect, so
 * a call that must not be made twice has a second effect only if nobody was asked.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JournalEntry, Store } from "looplet";
import { sqliteStore, type SqliteDatabaseLike } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { between, seededRandom, type Random } from "../../../src/typescript/lab/practice/random.js";
import { live, once, told, World } from "../support/lives.js";

/** The journals of each kind of damage in each store. `LOOPLET_DAMAGED=200` damages as many as an issue's note quotes. */
const JOURNALS = Number(process.env["LOOPLET_DAMAGED"] ?? 10);
const SEED = process.env["LOOPLET_SEED"] ?? "damage";
const TIMEOUT = { timeout: 3_600_000 };

const folder = await mkdtemp(join(tmpdir(), "looplet-damaged-"));
afterAll(() => rm(folder, { recursive: true }));

/** A store, and the lines or rows that it has of the run. */
interface Damageable {
  readonly store: Store;
  lines(): Promise<Buffer[]>;
  replace(lines: Buffer[]): Promise<void>;
}

/** The parts of a database of `node:sqlite` that damage its rows. */
interface Database extends SqliteDatabaseLike {
  exec(statement: string): void;
}
const sqlite = (process.getBuiltinModule as (name: string) => any)("node:sqlite") as {
  DatabaseSync: new (path: string) => Database;
};
let number = 0;
const stores: { [name: string]: () => Damageable } = {
  files() {
    const own = join(folder, `${(number += 1)}`);
    const file = join(own, "run.jsonl");
    return {
      store: fileStore(own),
      async lines() {
        const bytes = await readFile(file).catch(() => Buffer.alloc(0));
        return bytes
          .toString("latin1")
          .split(/(?<=\n)/)
          .map((line) => Buffer.from(line, "latin1"));
      },
      replace: (lines) => writeFile(file, Buffer.concat(lines)),
    };
  },
  SQLite() {
    const database = new sqlite.DatabaseSync(":memory:");
    const rows = (): { [column: string]: unknown }[] =>
      database.prepare("SELECT * FROM looplet_entries ORDER BY first_seq").all() as never;
    return {
      store: sqliteStore(database),
      lines: async () => rows().map(({ entries }) => Buffer.from(String(entries))),
      async replace(lines) {
        // Rows have their numbers, so the texts move between them.
        const before = rows();
        database.exec("DELETE FROM looplet_entries");
        const insert = database.prepare(
          "INSERT INTO looplet_entries (run_id, first_seq, last_seq, entries) VALUES (?, ?, ?, ?)",
        );
        for (const [at, line] of lines.entries()) {
          const { run_id: run, first_seq: first, last_seq: last } = before[at]!;
          insert.run(run as string, first as number, last as number, line.toString());
        }
      },
    };
  },
  /** A store of a user, which numbers the entries that it has. */
  "a list of texts"() {
    let texts: string[] = [];
    return {
      store: {
        load: () => texts.map((json, at): JournalEntry => ({ seq: at + 1, json })),
        append(_, entries, expectedSeq) {
          if (texts.length !== expectedSeq) throw new Error(`has ${texts.length} and not ${expectedSeq}`);
          texts.push(...entries.map(({ json }) => json));
        },
      },
      lines: async () => texts.map((text) => Buffer.from(text)),
      async replace(lines) {
        texts = lines.map((line) => line.toString().replaceAll("\n", ""));
      },
    };
  },
};

type Damage = (lines: Buffer[], random: Random) => Buffer[];

/** One of the lines, with a place in it that is not its last byte. */
function within(lines: Buffer[], random: Random): [line: number, byte: number] {
  const line = between(random, 0, lines.length - 1);
  return [line, between(random, 0, Math.max(0, lines[line]!.length - 2))];
}

const kinds: { [name: string]: Damage } = {
  zeros(lines, random) {
    const [line, byte] = within(lines, random);
    lines[line]!.fill(0, byte, Math.min(byte + 64, lines[line]!.length));
    return lines;
  },
  // Nobody can know of lines that are missing at the end.
  "a missing line"(lines, random) {
    const line = between(random, 0, lines.length - 2);
    return lines.filter((_, at) => at !== line);
  },
  "swapped lines"(lines, random) {
    const line = between(random, 0, lines.length - 2);
    // The first line has the beginning, which some readers look for.
    const one = between(random, 0, 1) === 0 ? 0 : line;
    const other = between(random, one + 1, lines.length - 1);
    return lines.map((own, at) => (at === one ? lines[other]! : at === other ? lines[one]! : own));
  },
  "a flipped bit"(lines, random) {
    const [line, byte] = within(lines, random);
    lines[line]![byte]! ^= 1 << between(random, 0, 7);
    return lines;
  },
  "a cut in a line"(lines, random) {
    const [line, byte] = within(lines, random);
    return [...lines.slice(0, line), lines[line]!.subarray(0, byte + 1)];
  },
  "a line twice"(lines, random) {
    const line = between(random, 0, lines.length - 1);
    return lines.flatMap((own, at) => (at === line ? [own, own] : [own]));
  },
};

const whole = new World();
const end = JSON.stringify(told((await live(whole)).result!));

describe.each(Object.keys(stores))("a journal in %s", (name) => {
  // A row of a database has a number of its own, so it is not there twice.
  const possible = Object.keys(kinds).filter((kind) => name !== "SQLite" || kind !== "a line twice");
  it.each(possible)("with %s makes no call twice unasked, and says so", TIMEOUT, async (kind) => {
    const random = seededRandom(`${SEED} ${name} ${kind}`);
    let [read, torn] = [0, 0];
    for (let journal = 0; journal < JOURNALS; journal++) {
      const { store, lines, replace } = stores[name]!();
      const writes: Promise<void>[] = [];
      const world = new World({
        load: (key) => store.load(key),
        append(...appended) {
          const written = Promise.resolve(store.append(...appended));
          writes.push(written.catch(() => {}));
          return written;
        },
      });
      const cut = between(random, 20, whole.callbacks.length - 1);
      await live(world, { cut });
      // A write of a process that was killed is over when its journal is damaged.
      await Promise.all(writes);
      const before = await lines();
      const where = `LOOPLET_SEED=${SEED}, journal ${journal}, cut at ${cut}, ${before.length} lines`;
      if (before.length < 2) continue;
      const after = kinds[kind]!(before, random);
      if (after.length < 2) continue;
      await replace(after);
      const { result, warnings, errors } = await live(world).catch((error: unknown) => {
        throw new Error(where, { cause: error });
      });
      for (const id of once) expect(world.effects.get(id) ?? 0, `${id}: ${where}`).toBeLessThan(2);
      // A journal without a whole beginning is refused.
      if (result!.outcome === "failed") {
        expect(result!.error!.message, where).toMatch(/no valid beginning/);
        continue;
      }
      read += 1;
      const isTold = warnings.some((warning) => warning.startsWith("journal_torn"));
      torn += Number(isTold);
      expect(isTold || JSON.stringify(told(result!)) === end, `${where}: ${errors.join()}`).toBe(true);
      expect(result!.outcome, where).toBe("completed");
      for (const id of once) expect(world.effects.get(id), `${id}: ${where}`).toBe(1);
    }
    expect(read, "journals that could be read").toBeGreaterThan(0);
    if (kind !== "a line twice") expect(torn, "journals that were torn").toBeGreaterThan(0);
  });
});

it("rows of SQLite of which any two are swapped make no call twice unasked", TIMEOUT, async () => {
  for (let one = 0, other = 1, count = 2; one < count - 1;) {
    const { store, lines, replace } = stores["SQLite"]!();
    const writes: Promise<void>[] = [];
    const append: Store["append"] = (...appended) => {
      const written = Promise.resolve(store.append(...appended));
      writes.push(written.catch(() => {}));
      return written;
    };
    const world = new World({ load: (key) => store.load(key), append });
    await live(world, { cut: Math.floor(whole.callbacks.length / 2) });
    await Promise.all(writes);
    const rows = await lines();
    count = rows.length;
    await replace(rows.map((row, at) => (at === one ? rows[other]! : at === other ? rows[one]! : row)));
    const { result, warnings } = await live(world);
    const where = `rows ${one} and ${other} of ${count}`;
    expect(result!.outcome, where).toBe("completed");
    expect(warnings.join(), where).toContain("journal_torn");
    for (const id of once) expect(world.effects.get(id), `${id}: ${where}`).toBe(1);
    if (++other >= count) other = ++one + 1;
  }
});
