/** Rendered text into messages. */
import { readRoleMarker } from "./role-marker.js";
import { withoutOuterLines } from "../text.js";
import type { Message } from "../types.js";

/** Splits a text at its role markers. Text before the first one is a system message. */
export function parseChat(text: string): Message[] {
  const messages: Message[] = [];
  let lines: string[] = [];
  let open: Message | undefined;
  const close = (): void => {
    const value = withoutOuterLines(lines.join("\n"));
    lines = [];
    if (open === undefined && value.trim() === "") return;
    messages.push({ ...(open ?? { role: "system" }), content: [{ kind: "text", value }] });
  };
  for (const line of text.split(/\r?\n/)) {
    const marker = readRoleMarker(line);
    if (marker === undefined) {
      lines.push(line);
      continue;
    }
    close();
    const { role, metadata } = marker;
    open = { role, content: [], ...(metadata === undefined ? {} : { metadata }) };
  }
  close();
  return messages;
}
