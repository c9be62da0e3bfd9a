/** Names of models with a date behind them. */

/**
 * Whether a model's name is `begin`, with nothing behind it but a date, a version of three digits, `-latest` or
 * `-preview`: `gpt-5-mini` is not a `gpt-5`.
 */
export function isModel(model: string, begin: string): boolean {
  if (!model.startsWith(begin)) return false;
  return /^(-latest|-preview(-\d\d)*|[-@]\d{3}[\d-]*)*$/.test(model.slice(begin.length));
}
