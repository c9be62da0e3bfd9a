// A process of Node that lives one life: `node node-life.mjs <store> <folder> <url>`. The folder outlives it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as looplet from "looplet";
import { sqliteStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { checkTranscript } from "looplet/transcript";
import { live } from "./killed-run.mjs";

const [, , kind, folder, url] = process.argv;
/** The clock of all processes: the test lets time pass for them. */
const now = () => Date.now() + Number(readFileSync(join(folder, "passed"), "utf8"));
const stores = {
  files: () => fileStore(join(folder, "journals"), { now }),
  SQLite() {
    const database = new DatabaseSync(join(folder, "runs.db"), { timeout: 5000 });
    database.exec("PRAGMA journal_mode = WAL");
    return sqliteStore(database, { now });
  },
};
const clock = { now, setTimer: setTimeout, clearTimer: clearTimeout };
await live({ ...looplet, checkTranscript }, { url, store: stores[kind](), clock });
