/** Words of prompts, tool names and descriptions, brought into one comparable form. */

const STOP_WORDS = new Set(
  (
    "a an and are as at be by can could do does for from get give has have hello help how i if in into is it its let may me my " +
    "need of on one or our please shall should so some tell than that the their them then there these they this those to " +
    "up us use used using want was we what what's whats when where which who will with would you your also just any all value string " +
    "number given returns return tool function result results optional about user input like"
  ).split(" "),
);

/** The stem of one word: lower case, without a plural or a common ending. */
export function stem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length > 5 && lower.endsWith("ies")) return `${lower.slice(0, -3)}y`;
  for (const ending of [
    "ations",
    "ation",
    "ators",
    "ator",
    "ating",
    "ings",
    "ing",
    "ated",
    "ers",
    "er",
    "ed",
    "ies",
    "es",
    "s",
    "e",
  ]) {
    if (lower.length - ending.length >= 3 && lower.endsWith(ending) && !lower.endsWith("ss")) {
      return lower.slice(0, -ending.length);
    }
  }
  return lower;
}

/** The stems of the words of `text` that carry meaning. */
export function stems(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  return new Set(words.filter((word) => !STOP_WORDS.has(word) && word.length > 1).map(stem));
}

/** The words of an identifier: `notes_add`, `notesAdd` and `notes-add` are "notes add". */
export function splitName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_\-.]+/g, " ")
    .toLowerCase();
}

/** `text` with a capital first letter. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `text` cut to `length` characters at a word, with an ellipsis. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/\s+\S*$/, "")}…`;
}
