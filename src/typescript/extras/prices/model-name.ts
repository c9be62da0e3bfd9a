/** Names of models that end with a date. */

/**
 * Whether a model's name is `begin`, followed only by a date, a version of three digits, `-latest` or `-preview`:
 * `gpt-5-mini` is not a `gpt-5`.
 */
export function isModel(model: string, begin: string): boolean {
  if (!model.startsWith(begin)) return false;
  return /^(-latest|-preview(-\d\d)*|[-@]\d{3}[\d-]*)*$/.test(model.slice(begin.length));
}
