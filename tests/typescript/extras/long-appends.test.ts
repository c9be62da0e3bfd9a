/** Appends that are longer than a row of a database may be, when a write of them goes wrong. */
import { describe, expect, it } from "vitest";
import { isStoreConflict } from "../../../src/typescript/core/api/errors.js";
import type { JournalEntry } from "../../../src/typescript/core/api/run.js";
import {
  sqliteDatabase,
  sqlStore,
  type SqlDatabase,
  type SqliteDatabaseLike,
} from "../../../src/typescript/extras/stores/index.js";
import { piecesOf } from "../../../src/typescript/extras/stores/long/pieces.js";

const sqlite = (process.getBuiltinModule as ((name: string) => unknown) | undefined)?.("node:sqlite") as
  { DatabaseSync: new (name: string) => SqliteDatabaseLike } | undefined;

describe("the pieces of a text", () => {
  it.each([
    ["", [""]],
    ["abc", ["abc"]],
    ["abcdefg", ["abc", "def", "g"]],
    ["ab🦊cd", ["ab", "🦊c", "d"]],
    ["a🦊🦊🦊", ["a🦊", "🦊", "🦊"]],
    ["ab\ud83ecd", ["ab\ud83e", "cd"]],
  ])("of %j do not end within a letter", (text, pieces) => {
    expect(piecesOf(text, 3)).toEqual(pieces);
  });
});

describe.skipIf(sqlite === undefined)("a long append in SQL", () => {
  const long: JournalEntry[] = ["a", "b", "c"].map((name, at) => ({
    seq: at + 1,
    json: JSON.stringify(name.repeat(400_000)),
  }));
  /** A store whose statements `around` may spoil, and the number of its pieces. */
  const opened = (
    around: (statement: string, perform: () => number) => number = (_, perform) => perform(),
  ) => {
    const database = new sqlite!.DatabaseSync(":memory:");
    const whole = sqliteDatabase(database);
    const spoilt: SqlDatabase = {
      ...whole,
      run: (statement, values) => around(statement, () => Number(whole.run(statement, values))),
    };
    const pieces = () => database.prepare("SELECT name FROM looplet_pieces").all().length;
    return { store: sqlStore(spoilt), database, pieces };
  };

  it("is damaged behind a piece that is lost, and has what came before", async () => {
    const { store, database } = opened();
    await store.append("x", long, 0);
    database.prepare("DELETE FROM looplet_pieces WHERE place = 1").run();
    expect(await store.load("x")).toEqual([long[0], { seq: 3, json: "damaged" }]);
  });

  it("is whole after a write that has reached the database although it failed", async () => {
    const { store } = opened((statement, perform) => {
      const changed = perform();
      if (statement.startsWith("INSERT INTO looplet_entries")) throw new Error("the connection is lost");
      return changed;
    });
    await expect(store.append("x", long, 0)).rejects.toSatisfy(isStoreConflict);
    expect(await store.load("x")).toEqual(long);
  });

  it("leaves no pieces when it is refused, when one of them cannot be written, and when its journal is deleted", async () => {
    let isFull = false;
    const { store, pieces } = opened((statement, perform) => {
      if (isFull && statement.startsWith("INSERT INTO looplet_pieces") && pieces() === 1)
        throw new Error("the disk is full");
      return perform();
    });
    await expect(store.append("x", long, 7)).rejects.toSatisfy(isStoreConflict);
    expect(pieces()).toBe(0);
    isFull = true;
    await expect(store.append("x", long, 0)).rejects.toThrow("the disk is full");
    expect(pieces()).toBe(0);
    isFull = false;
    await store.append("x", long, 0);
    expect(pieces()).toBe(3);
    await store.delete("x");
    expect(pieces()).toBe(0);
  });

  it("is read as older versions have written it, in one row", async () => {
    const { store, database } = opened();
    await store.append("x", [], 0);
    const text = long.map(({ json }) => `${json}\n`).join("");
    const columns = "run_id, first_seq, last_seq, entries";
    database.prepare(`INSERT INTO looplet_entries (${columns}) VALUES ('x', 1, 3, ?)`).run(text);
    expect(await store.load("x")).toEqual(long);
  });
});
