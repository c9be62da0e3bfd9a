/** The keys of the logs that a screen has next to the journal of a chat. They go with the chat. */
export function logsBeside(chat: string): { readonly branches: string; readonly queue: string } {
  return { branches: `${chat}.branches`, queue: `${chat}.queue` };
}
