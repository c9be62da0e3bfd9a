/** Chats of several runs whose journal is damaged in one of them. The other runs stay, and no old run resumes. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createAgent, custom, tool, type JournalEntry, type Message, type Store } from "looplet";
import { handler } from "looplet/server";
import { sqliteStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { connectAgent } from "looplet/workers";

const folder = await mkdtemp(join(tmpdir(), "looplet-chats-"));
afterAll(() => rm(folder, { recursive: true }));

const RUNS = 4;

interface Damageable {
  readonly store: Store;
  /** The texts of the journal's lines or rows. */
  lines(): Promise<string[]>;
  /** Puts these in their place; undefined for a line that is lost. */
  replace(lines: readonly (string | undefined)[]): Promise<void>;
}

const { DatabaseSync } = (process.getBuiltinModule as (name: string) => any)("node:sqlite");
let number = 0;
const stores: { [name: string]: () => Damageable } = {
  files() {
    const own = join(folder, `${(number += 1)}`);
    const file = join(own, "c.jsonl");
    return {
      store: fileStore(own),
      lines: async () => (await readFile(file, "utf8")).split(/(?<=\n)/),
      replace: (lines) => writeFile(file, lines.join("")),
    };
  },
  SQLite() {
    const database = new DatabaseSync(":memory:");
    const rows = (): any[] =>
      database.prepare("SELECT first_seq, entries FROM looplet_entries ORDER BY first_seq").all();
    return {
      store: sqliteStore(database),
      lines: async () => rows().map(({ entries }) => entries),
      async replace(lines) {
        for (const [at, { first_seq: first }] of rows().entries()) {
          if (lines[at] === undefined)
            database.prepare("DELETE FROM looplet_entries WHERE first_seq = ?").run(first);
          else
            database
              .prepare("UPDATE looplet_entries SET entries = ? WHERE first_seq = ?")
              .run(lines[at], first);
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
      lines: async () => [...texts],
      replace: async (lines) => void (texts = lines.filter((line) => line !== undefined)),
    };
  },
};

function agentOf(store: Store, asked: string[] = []): ReturnType<typeof createAgent> {
  return createAgent({
    store,
    model: custom(async function* ({ messages }) {
      asked.push(words(messages).join(" / "));
      const last = messages.at(-1)!.content[0]!;
      if (last.type === "tool_result") yield "Sent.";
      else yield { type: "tool_call", id: `t${messages.length}`, name: "mail", input: {} };
    }),
    tools: {
      mail: tool({
        description: "m",
        inputSchema: { type: "object" },
        replay: "safe",
        execute: () => "sent",
      }),
    },
  });
}

/** The texts of people. */
const words = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "text" && block.text.startsWith("prompt") ? block.text : [])),
  );

const answers = (messages: readonly Message[]): number => JSON.stringify(messages).split("Sent.").length - 1;

const flipped = (line: string): string => {
  const at = Math.floor(line.length / 2);
  return line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
};

describe.each(Object.keys(stores))("a chat in %s with one damaged line", (name) => {
  it.each([
    ["changed", flipped],
    ["lost", () => undefined],
  ])(
    "that is %s has all its other runs, says so, and starts none",
    { timeout: 60_000 },
    async (_, damage) => {
      for (let line = 0; ; line++) {
        const { store, lines, replace } = stores[name]!();
        const chat = await agentOf(store).openChat("c");
        let [upto, all] = [0, [] as string[]];
        for (let run = 0; run < RUNS; run++) {
          upto = run === RUNS - 1 ? (await lines()).length : upto;
          await chat.run(`prompt ${run}`).result;
          await chat.saved();
          all = await lines();
        }
        if (line >= upto) break;
        // The line of a lease has no entries.
        const isLease = / @ \d+ \d+ \w+\n$/.test(all[line]!);
        await replace(all.map((own, at) => (at === line ? damage(own) : own)));

        const asked: string[] = [];
        const again = await agentOf(store, asked).openChat("c");
        const place = `line ${line} of ${all.length}: ${all[line]!.slice(0, 40)}`;
        expect(again.current, place).toBeUndefined();
        if (!isLease) expect(again.isWhole, place).toBe(false);
        expect((await agentOf(store).readChat("c"))?.isWhole, place).toBe(again.isWhole);
        const lostPrompts = RUNS - words(again.messages).length;
        expect(lostPrompts, place).toBeLessThanOrEqual(1);
        expect(answers(again.messages), place).toBeGreaterThanOrEqual(RUNS - 1);
        expect(words(again.messages).at(-1), place).toBe(`prompt ${RUNS - 1}`);
        expect(again.messages, place).toHaveLength(4 * RUNS);

        // The chat goes on, here and in the next process.
        expect(await again.run("prompt more").result, place).toMatchObject({ outcome: "completed" });
        await again.saved();
        expect(asked, place).toHaveLength(2);
        const next = await agentOf(store).openChat("c");
        expect(next.messages, place).toEqual(again.messages);
        expect(words(next.messages).at(-1), place).toBe("prompt more");
      }
    },
  );
});

it("is not whole for a page either", async () => {
  const { store, lines, replace } = stores["SQLite"]!();
  const chat = await agentOf(store).openChat("ada/c");
  for (let run = 0; run < 2; run++) await chat.run(`prompt ${run}`).result;
  await chat.saved();
  const isWholeOnPage = async (): Promise<boolean> => {
    const server = handler(agentOf(store), { store, base: "/api", authorize: () => "ada" });
    const page = connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => server(new Request(`${url}`, init) as never)) as never,
    });
    const { isWhole } = await page.openChat("c");
    page.disconnect();
    return isWhole;
  };
  expect(await isWholeOnPage()).toBe(true);
  await replace((await lines()).map((own, at) => (at === 1 ? flipped(own) : own)));
  expect(await isWholeOnPage()).toBe(false);
});
