/** Journals, and the stores that hold them. */
export { HOST_CLOCK } from "../clock.js";
export {
  batchesOf,
  entriesOf,
  isRunEnd,
  journalOf,
  type JournalText,
  withoutChecksum,
} from "../host/entries.js";
export { TAKEN_OVER } from "../run/journal.js";
export { AppendLog } from "../run/saving/append-log.js";
export { within } from "../run/saving/timed-store.js";
