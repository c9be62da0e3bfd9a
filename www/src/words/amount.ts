/** Amounts as people read them. */

const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

export const tokens = (count: number): string => whole.format(count);

/** A count with its noun: "1 iteration", "2,000 tokens". */
export const counted = (count: number, noun: string): string =>
  `${tokens(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A count in little room: "830", "1.6k", "4M". */
export function brief(count: number): string {
  return count < 1000 ? whole.format(count) : short.format(count).toLowerCase().replace("m", "M");
}

/** Milliseconds as "840 ms" or "2.4 s". */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** US dollars, the one unit of money: "$0.00", "$0.0075", "$0.25", "$1.50". */
export function cost(usd: number): string {
  return `$${usd >= 1 ? usd.toFixed(2) : usd.toFixed(4).replace(/00$/, "")}`;
}

/** Longest JSON that stays on one line, in characters. */
const maxLine = 60;

/** A value for a reader: texts as they are, everything else as JSON. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "";
  return line.length <= maxLine ? line : JSON.stringify(value, null, 2);
}
