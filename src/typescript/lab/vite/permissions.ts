/** Permissions in a journal: as they were, with the users' changes. They override the options. */
import { type JournalText, withoutChecksum } from "../../core/kit/journal.js";

/** The journal with the permissions of the new configuration, if they differ from those of the one before. */
export function withPermissions(journal: JournalText, before: string, after: string): JournalText {
  const [old, permissions] = [before, after].map(permissionsOf);
  if (JSON.stringify(old) === JSON.stringify(permissions)) return journal;
  const texts = [...journal.texts];
  for (let at = texts.length - 1; at >= 0; at--) {
    const entry = JSON.parse(withoutChecksum(texts[at]!)) as { fact: { run?: object } };
    if (entry.fact.run === undefined) continue;
    entry.fact.run = { ...entry.fact.run, permissions };
    texts[at] = JSON.stringify(entry);
    return { ...journal, texts };
  }
  return journal;
}

function permissionsOf(config: string): object | null {
  return (JSON.parse(config) as { permissions?: object }).permissions ?? null;
}
