/** The names that fields and headers with secrets have. */

/** Parts of names, without the characters between letters and digits: `api_key`, `apiKey`, `X-API-Key` and `api key` are one. */
const PARTS =
  /secret|passw(?:or)?d|passphrase|passcode|passkey|apikey|token|auth|credential|cookie|signature|bearer|connectionstring|mnemonic|seedphrase|recoverycode|sessionid|(?:access|account|admin|client|deploy|encryption|functions?|host|license|master|mcp|priv|private|root|service|shared|signing|ssh|storage|subscription|user)key/;

/** Names, or words of names, that would be parts of harmless words. */
const WORDS = /^(?:creds?|csrf|cvc|cvv|dsn|jwt|otp|pass|pem|pin|psw|pw|pwd|sid|sig|totp|xsrf)$/;

/** Whether a field or a header with this name holds a secret, to judge by its name. */
export function soundsSecret(name: string): boolean {
  // Letters in other widths and invisible marks do not make another name.
  const plain = name.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const words = plain.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[^A-Za-z0-9]+/);
  return PARTS.test(words.join("").toLowerCase()) || words.some((word) => WORDS.test(word.toLowerCase()));
}
