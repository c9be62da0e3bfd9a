/** The number of items at or before a step. The items are sorted by step. */
export function countUpTo<T>(items: readonly T[], step: number, stepOf: (item: T) => number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stepOf(items[middle]!) <= step) low = middle + 1;
    else high = middle;
  }
  return low;
}
