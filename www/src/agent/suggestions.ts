/** First prompts that show what looplet can do. */
export const suggestions = [
  { title: "Two tools at the same time", prompt: "What is 17 * 23 + 4, and what time is it in Tokyo?" },
  {
    title: "Two steps, with your approval",
    prompt: "Calculate 1234.5 * 0.19 and then save the result as a note",
  },
  { title: "A slow tool: steer it or stop it", prompt: "Look up retries and limits in the archive" },
  {
    title: "Two subagents",
    prompt:
      "Ask the researcher to look up keys in the archive, and ask the secretary to save the note: call Ada",
  },
  {
    title: "Hand off to another agent",
    prompt: "Hand over to the archivist, then look up keys in the archive",
  },
  { title: "A tool that asks you", prompt: "Plan a dinner" },
  { title: "Read a document", prompt: "Read the document steering.md and list my notes" },
  { title: "A tool that fails", prompt: "Calculate 7 / 0" },
  { title: "A server that fails", prompt: "/practice 529 x2\nWhat time is it in Paris?" },
] as const;
