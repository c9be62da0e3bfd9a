/** Models of Amazon Bedrock. */
import { LoopletError } from "../api/errors.js";
import type { Model } from "../api/index.js";
import type { BedrockOptions } from "../api/model.js";
import { checkOptions, describeWord, joined } from "../options/check.js";
import { KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { BEDROCK_TABLE } from "../options/options.js";
import { awsSigV4 } from "./aws.js";
import { vendorModel, isBrowser } from "./models.js";

/**
 * A model of Amazon Bedrock over Converse, named by its id, an inference profile's id or an ARN.
 *
 * @example
 * ```ts
 * import { bedrock, createAgent } from "looplet";
 *
 * const model = bedrock("anthropic.claude-sonnet-4-6", {
 *   region: "eu-central-1",
 *   credentials: { accessKeyId: "AKIA…", secretAccessKey: "…" },
 * });
 * const agent = createAgent({ model });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function bedrock(model: string, options: BedrockOptions): Model {
  const { region, credentials, ...others } = checkOptions(options, "model", BEDROCK_TABLE, KNOWN_ELSEWHERE);
  const rest = joined(others);
  if (!/^[a-z0-9-]+$/.test(region)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.region",
      `needs a region's name, for example "us-east-1", got ${describeWord(region)}`,
    );
  }
  if (credentials !== undefined && (rest.apiKey !== undefined || rest.authorize !== undefined)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.credentials",
      "must stand alone: give credentials, apiKey or authorize",
    );
  }
  if (credentials !== undefined && rest.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new LoopletError(
      "config_browser_key",
      "model.credentials",
      "everybody who opens this page can read them; set baseUrl to a proxy of yours that signs, or dangerouslyAllowBrowser: true",
    );
  }
  const authorize = credentials === undefined ? rest.authorize : awsSigV4({ region, credentials });
  const baseUrl = `https://bedrock-runtime.${region}.amazonaws.com`;
  return vendorModel("bedrock", model, { ...rest, authorize }, "bedrock_converse", { baseUrl });
}
