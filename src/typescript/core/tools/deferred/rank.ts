/**
 * The tools that fit a query best, by BM25 over their names and descriptions. The module is loaded when a model
 * searches for the first time.
 */

/** A tool as a search sees it. */
export interface SearchedTool {
  readonly name: string;
  readonly description: string;
}

/** The usual constants: how soon a repeated word counts no more, and how much the length of a text counts. */
const K1 = 1.2;
const B = 0.75;

/** The characters and words of a query that count. */
const MOST_CHARS = 1000;
const MOST_WORDS = 50;

/** The names of the tools that have a word of the query, the best first. */
export function rank(query: string, tools: readonly SearchedTool[]): string[] {
  const wanted = [...new Set(wordsOf(query.slice(0, MOST_CHARS)))].slice(0, MOST_WORDS);
  const texts = tools.map(({ name, description }) => wordsOf(`${name} ${description}`));
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const scores = new Map<string, number>();
  for (const word of wanted) {
    const counts = texts.map((text) => text.filter((other) => other === word).length);
    const having = counts.filter((count) => count > 0).length;
    const rarity = Math.log(1 + (tools.length - having + 0.5) / (having + 0.5));
    for (const [at, { name }] of tools.entries()) {
      const count = counts[at]!;
      if (count === 0) continue;
      const length = 1 - B + (B * texts[at]!.length) / average;
      const score = (rarity * count * (K1 + 1)) / (count + K1 * length);
      scores.set(name, (scores.get(name) ?? 0) + score);
    }
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([name]) => name);
}

/** The words of a text in small letters, without the `s` of a plural. `getOpen_orders` has three. */
function wordsOf(text: string): string[] {
  const parted = text.replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ").toLowerCase();
  const words = parted.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}
