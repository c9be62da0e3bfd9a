/** The further fields of a request that a file may set, by `model.options.additionalProperties`. */
import { ValueError } from "../errors.js";
import type { PromptyHost, PromptyModel } from "../types.js";

/**
 * Fields with which a vendor runs its own tools, calls other servers, or stores or resumes conversations: the prompts
 * would reach more than the endpoint, or the answers come from elsewhere. Written without `_` and in lower case,
 * because Google accepts two spellings.
 */
const REACHING = new Set([
  "tools",
  "functions",
  "toolresources",
  "mcpservers",
  "websearchoptions",
  "websearch",
  "searchparameters",
  "plugins",
  "connectors",
  "datasources",
  "container",
  "prompt",
  "conversation",
  "previousresponseid",
  "previousinteractionid",
  "cachedcontent",
  "background",
  "store",
  "webhook",
  "provider",
  "enablesearch",
  "searchoptions",
  "searchsettings",
  // A gateway that the host allows may take these, and would send its own key to another address or vendor.
  "apibase",
  "baseurl",
  "apikey",
  "headers",
  "extraheaders",
  "extrabody",
  "models",
  "fallbacks",
]);

/** Fields that the messages and the agent of a request fill. */
const OWN = ["messages", "input", "contents", "stream"];

/**
 * The fields, if the host allows them.
 *
 * @throws ValueError
 */
export function furtherFields(
  { options: { additionalProperties } = {} }: Pick<PromptyModel, "options">,
  { allowedProperties = [] }: Pick<PromptyHost, "allowedProperties">,
): { [field: string]: unknown } | undefined {
  for (const field of Object.keys(additionalProperties ?? {})) {
    if (OWN.includes(field))
      throw new ValueError(`model.options.additionalProperties.${field} is written by the turn`);
    if (!REACHING.has(field.replaceAll("_", "").toLowerCase()) || allowedProperties.includes(field)) continue;
    throw new ValueError(
      `The file sets the field ${field} of requests, with which a vendor calls other servers or stores conversations: ` +
        `add it to host.allowedProperties if you trust the file`,
    );
  }
  return additionalProperties;
}
