/** Entries of the vendors' lists of tools, made of options in camelCase. */

/** The fields of an entry: names in snake_case, without those that are undefined. Values stay as they are. */
export function fieldsOf(options: object): { [field: string]: unknown } {
  const set = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [snakeCase(name), value as unknown]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The place of the user, as searches of Anthropic and OpenAI take it. */
export interface UserLocation {
  readonly city?: string;
  readonly region?: string;
  /** Two letters, for example `"DE"`. */
  readonly country?: string;
  /** For example `"Europe/Berlin"`. */
  readonly timezone?: string;
}

/** The field of an entry with the place of the user. */
export function located(place: UserLocation | undefined): object {
  return place === undefined ? {} : { user_location: { type: "approximate", ...place } };
}
