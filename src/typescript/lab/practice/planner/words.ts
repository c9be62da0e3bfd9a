/** Words of prompts, tool names and descriptions, brought into one comparable form. */

const STOP_WORDS = new Set(
  (
    "a about all also an and are as at be by can could do does for from get give has have hello help how i if in into is it its " +
    "just let me my need of on or our over please should so some tell than that the their them then there these they this to us " +
    "use used user using want was we what when where which who will with would you your"
  ).split(" "),
);

/** Words that say much the same, by the first of each row. The first four rows say what is done to things. */
const ALIKE = [
  "add save store create append put write",
  "list show display see",
  "remove delete forget erase clear",
  "update change rename edit replace",
  "search find look lookup google",
  "note remember remind memo jot",
  "weather forecast umbrella rain temperature",
  "time clock hour",
].map((row) => row.split(" ").map(withoutEnding));
const CANONICAL = new Map(ALIKE.flatMap((row) => row.map((word) => [word, row[0] ?? word])));

/** Whether a stem says what is done to a thing: two different ones never fit each other. */
export const isDeed = (stem: string) => ALIKE.slice(0, 4).some(([first]) => first === stem);

/** The comparable form of one word: lower case, without a common ending, its nearest synonym. */
export const stem = (word: string) => CANONICAL.get(withoutEnding(word)) ?? withoutEnding(word);

function withoutEnding(word: string): string {
  return word
    .toLowerCase()
    .replace(/(?<=...)(?:ations?|ators?|at(?:es?|ed|ing)|ies|ings?|ers?|ed|es|s|e|y)$/, "");
}

/** The stems of the words of `text` that carry meaning, in order. */
export function stems(text: string): string[] {
  const words = splitName(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word) && (word.length > 1 || /\d/.test(word))).map(stem);
}

/** The words of an identifier: `notes_add`, `notesAdd` and `notes-add` are "notes add". */
export function splitName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_\-.]+/g, " ")
    .toLowerCase();
}

/** `text` with a capital first letter. */
export const capitalise = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `text` in one line, cut to `length` characters at a word, with an ellipsis. */
export function shorten(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/\s+\S*$/, "")}…`;
}
