/** An id of 16 letters and digits, about 80 bits. */
export function randomId(random: () => number): string {
  const digits = Array.from({ length: 16 }, () => Math.floor(random() * 32).toString(32));
  return `run_${digits.join("")}`;
}
