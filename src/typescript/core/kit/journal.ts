/** Reads and writes journals. */
export {
  /** The clock of the platform. */
  HOST_CLOCK,
} from "../clock.js";
export {
  /** The batches of a journal in which the engine reads it. */
  batchesOf,
  /** The journal entries with these texts. */
  entriesOf,
  /** Whether an entry is the end of a run. */
  isRunEnd,
  /** The texts of a list of journal entries. */
  journalOf,
  /** A journal as texts. */
  type JournalText,
  /** The text of an entry without its checksum. */
  withoutChecksum,
} from "../host/entries.js";
// What is internal here is not in the published types: see `engine.ts`.
/** @internal */
export {
  /** The abort reason of a run that another process has resumed. */
  TAKEN_OVER,
} from "../run/journal.js";
/** @internal */
export {
  /** Appends to a store under a lease, so that only one process at a time writes. */
  AppendLog,
} from "../run/saving/append-log.js";
/** @internal */
export {
  /** A promise with a time limit. */
  withTimeLimit,
} from "../run/saving/timed-store.js";
