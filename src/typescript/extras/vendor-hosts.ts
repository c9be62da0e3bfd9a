/** Hosts at which vendors store the files of everyone who uses the server's key, and clouds their buckets. */

const VENDORS =
  /(^|\.)(googleapis\.com|storage\.cloud\.google\.com|openai\.com|openai\.azure\.com|anthropic\.com|mistral\.ai|x\.ai|openrouter\.ai)\.?$/;

/** Whether `hostname` of a `URL` is a vendor's or that of its buckets. */
export function isVendorHost(hostname: string): boolean {
  return VENDORS.test(hostname);
}
