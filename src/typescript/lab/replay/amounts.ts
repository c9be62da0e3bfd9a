/** Amounts as people read them, in the terminal and in devtools. */

const format = new Intl.NumberFormat("en-US");

/** A whole number: "2,000". */
export function whole(amount: number): string {
  return format.format(amount);
}

/** A count with its noun: "1 iteration", "2,000 tokens". */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
