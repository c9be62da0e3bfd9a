/** Characters that a terminal interprets as commands. An untrusted file may contain them. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** The text without characters that a terminal takes as commands. Lines and tabs stay. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, "\ufffd");
}

/** The harmless text on one line, so that no part of it looks like a line of the program that shows it. */
export function oneLine(text: string): string {
  return harmless(text.replace(/\s+/g, " ").trim());
}
