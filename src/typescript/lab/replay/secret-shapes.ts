/** Texts that are secrets by their form. They become as many asterisks, because limits count characters. */

/** Keys of vendors, web tokens, private keys, and the values after words that announce a secret. */
const SHAPES =
  /(\bbearer\s|[?&][\w.-]{0,40}(?:key|token|sig|signature|secret|passwd|password|credential)=|\bsig=)[\w.~+/=%-]{8,}|\b(?:sk|pk|rk|xox[a-z]|xapp|gsk|glpat|hf|npm|github_pat|gh[a-z]|pplx|do[opr]_v1|nvapi|r8|tvly|shpat|whsec|sbp)[-_][\w-]{12,}|\bxai-\w{20,}|\b(?:AIza|AKIA|ASIA)[\w-]{12,}|\b(?:IQoJ|FwoG)[\w/+=]{20,}|\bya29\.[\w-]{8,}|\b1\/\/0[\w-]{20,}|\bSG\.[\w-]{12,}\.[\w-]{12,}|\b(?:cfat|cfut|cfk)_[\w-]{16,}|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|\b[0-9a-f]{37}\b|\beyJhIjoi[\w/+=-]{60,}|(?<!\d)\d{6,12}:(?:AA[\w-]{30,}|[\w-]{35}(?![\w-]))|\beyJ[\w-]+\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-"]+/gi;

/** The password of an address. */
const PASSWORDS = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#"'@:\\<>]{0,256}:)[^\s/?#"'@\\<>]{1,256}(?=@)/gi;

/** The value of an environment variable with a name that sounds like a secret. */
const VARIABLES =
  /(\b[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)["']?\s{0,2}[=:]\s{0,2}["']?)[^\s"'\\]{8,}/g;

/** Candidates for the secret of Basic authentication, and for those of AWS and Cloudflare: a look decides. */
const BASIC = /(\bbasic\s{1,4})([A-Za-z0-9+/]{6,}={0,2})/gi;
const FORTY = /(^|[^\w/+=-])([\w/+-]{40})(?![\w/+=-])/g;

/** A text with secrets replaced by asterisks, also if they are escaped as in JSON or URLs. */
export function starredShapes(text: string): string {
  let told = plainShapes(text);
  // A text in a text is escaped once more.
  for (let level = 0, view = viewOf(told); view !== undefined && level < 3; level++) {
    const shown = plainShapes(view.text);
    if (shown !== view.text) told = starredBehind(told, view, shown);
    view = viewOf(shown, view.at);
  }
  return told;
}

/** The text with asterisks where its view has got some. */
function starredBehind(text: string, view: View, shown: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < shown.length; at++) {
    if (shown[at] === view.text[at]) continue;
    const [start, end] = [view.at[at]!, view.at[at + 1]!];
    pieces.push(text.slice(from, start), "*".repeat(end - start));
    from = end;
  }
  return pieces.join("") + text.slice(from);
}

function plainShapes(text: string): string {
  return text
    .replace(SHAPES, stars)
    .replace(PASSWORDS, stars)
    .replace(VARIABLES, stars)
    .replace(BASIC, (found: string, before: string, coded: string) =>
      isPair(coded) ? stars(found, before) : found,
    )
    .replace(FORTY, (found: string, before: string, key: string) =>
      /[a-z]/.test(key) && /[A-Z]/.test(key) && /\d/.test(key) ? stars(found, before) : found,
    );
}

/** A secret without its characters. The words before it stay. */
export function stars(found: string, before = ""): string {
  return before + "*".repeat(found.length - before.length);
}

/** True for the base64 of a name and a password. */
function isPair(coded: string): boolean {
  try {
    return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(atob(coded));
  } catch {
    return false;
  }
}

/** A text with each escaped character as itself, and the place in the text of each of its characters. */
interface View {
  readonly text: string;
  /** One more than characters: the end too. */
  readonly at: readonly number[];
}

/** Undefined for a text without escapes. `at` are the positions of its own characters. */
function viewOf(text: string, at?: readonly number[]): View | undefined {
  const pieces: string[] = [];
  const places: number[] = [];
  const placeOf = (index: number): number => at?.[index] ?? index;
  let from = 0;
  const take = (end: number): void => {
    pieces.push(text.slice(from, end));
    for (; from < end; from++) places.push(placeOf(from));
  };
  for (const found of text.matchAll(/\\{1,8}u00([0-7][0-9a-f])|%([2-7][0-9a-f])|\\{1,8}([/"])/gi)) {
    take(found.index);
    pieces.push(found[3] ?? String.fromCharCode(parseInt(found[1] ?? found[2]!, 16)));
    places.push(placeOf(from));
    from = found.index + found[0].length;
  }
  if (from === 0) return undefined;
  take(text.length);
  return { text: pieces.join(""), at: [...places, placeOf(text.length)] };
}
