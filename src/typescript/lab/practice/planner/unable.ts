/** Says what a request asks for and a practice model cannot do. */

/** A sentence about `others`: types of parts and tools, and fields of the vendor. Empty when there are none. */
export function unable(others: readonly string[]): string {
  const deedOf = (name: string) => DEEDS.find(([about]) => about.test(name))?.[1];
  const deeds = [...new Set(others.flatMap((name) => deedOf(name) ?? []))];
  const rest = [...new Set(others.filter((name) => !deedOf(name)))].map((name) => `\`${name}\``);
  const parts = [
    ...(deeds.length > 0 ? [`I cannot ${listed(deeds, "or")}`] : []),
    ...(rest.length > 0 ? [`I do not know ${listed(rest, "or")}`] : []),
  ];
  return parts.length === 0 ? "" : `I am a practice model: ${parts.join(", and ")}.`;
}

const DEEDS: readonly [about: RegExp, deed: string][] = [
  [/image|picture/i, "see images"],
  [/audio|speech|voice/i, "hear or make sounds"],
  [/video/i, "watch videos"],
  [/search|grounding|url_?context|web_?fetch/i, "search the web"],
  [/code_?(?:execution|interpreter)|container|bash|shell/i, "run programs on the server"],
  [/mcp/i, "reach MCP servers"],
  [/document|file|pdf|^text\/|^application\//i, "read files"],
];

const listed = (words: readonly string[], joint: string) =>
  words.join(", ").replace(/, (?=[^,]*$)/, ` ${joint} `);
