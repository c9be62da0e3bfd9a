// @ts-check
import { ToolError, tool } from "looplet";

/** @typedef {{ id: number, text: string }} Note */

const maxNotes = 100;
// Calls that use the notes run in order. Other calls may run in parallel.
const resourceKey = () => "notes";

/**
 * Three tools for one list of notes.
 *
 * @param {Pick<Storage, "getItem" | "setItem">} storage stores the list, for example `localStorage`
 */
export function notes(storage) {
  return {
    add_note: tool({
      description: "Saves a note for the user.",
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string", minLength: 1, maxLength: 2000, description: "The text of the note" },
        },
        required: ["text"],
        additionalProperties: false,
      },
      resourceKey,
      access: "edit",
      // What the mode `acceptEdits` looks at: a text that reads like a path to elsewhere is asked about.
      ruleSubject: "text",
      execute: ({ text }) => {
        const list = load(storage);
        if (list.length >= maxNotes)
          throw new ToolError({
            code: "full",
            message: `There are ${maxNotes} notes already.`,
            hint: "Remove one first.",
          });
        const note = { id: 1 + Math.max(0, ...list.map(({ id }) => id)), text };
        save(storage, [...list, note]);
        return { saved: note, count: list.length + 1 };
      },
    }),
    list_notes: tool({
      description: "Lists the notes of the user with their ids.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      readOnly: true,
      resourceKey,
      execute: () => ({ notes: load(storage) }),
    }),
    remove_note: tool({
      description: "Removes a note by its id.",
      inputSchema: {
        type: "object",
        properties: { id: { type: "integer", minimum: 1, description: "As list_notes shows it" } },
        required: ["id"],
        additionalProperties: false,
      },
      resourceKey,
      execute: ({ id }) => {
        const list = load(storage);
        const note = list.find((candidate) => candidate.id === id);
        if (!note)
          throw new ToolError({
            code: "not_found",
            message: `There is no note ${id}.`,
            hint: "Ask list_notes for the ids.",
          });
        save(
          storage,
          list.filter((candidate) => candidate !== note),
        );
        return { removed: note, count: list.length - 1 };
      },
    }),
  };
}

const key = "looplet.notes";

/** @param {Pick<Storage, "getItem">} storage @returns {Note[]} */
function load(storage) {
  try {
    const list = JSON.parse(storage.getItem(key) ?? "[]");
    return Array.isArray(list)
      ? list.filter((note) => Number.isInteger(note?.id) && typeof note?.text === "string")
      : [];
  } catch {
    return [];
  }
}

/** @param {Pick<Storage, "setItem">} storage @param {Note[]} list */
function save(storage, list) {
  storage.setItem(key, JSON.stringify(list));
}
