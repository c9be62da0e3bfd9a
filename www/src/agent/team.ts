/** Two agents that the page's agent can ask, and one that takes the conversation over, each with its own instructions and tools. */
import { handoff, subagent, type Tool } from "looplet";

/** `tools` are those of the page. */
export function team(tools: { readonly [name: string]: Tool }): { [name: string]: Tool } {
  const some = (...names: string[]) =>
    Object.fromEntries(Object.entries(tools).filter(([name]) => names.includes(name)));
  const asked = {
    researcher: subagent({
      description: "Looks things up in the archive and the documents about looplet, and sums them up.",
      system: "You look things up with your tools and answer with what you found, in a few sentences.",
      tools: some("slow_lookup", "read_document", "calculator"),
      limits: { maxIterations: 6 },
      readOnly: true,
    }),
    secretary: subagent({
      description: "Keeps the user's notes: saves, lists and removes them.",
      system: "You keep the user's notes with your tools and say briefly what you did.",
      tools: some("add_note", "list_notes", "remove_note"),
      limits: { maxIterations: 6 },
    }),
  };
  return {
    ...asked,
    archivist: handoff({
      description: "Hands the conversation over to the archivist, who knows the archive and the documents.",
      system: "You are the archivist. You look things up with your tools and answer with what you found.",
      // The archivist has the chat from here on.
      tools: { ...tools, ...asked },
    }),
  };
}
