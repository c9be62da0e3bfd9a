/** What requests to AWS are signed and sent with. */
import type { HttpModelOptions } from "./model.js";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface AwsSigV4Options {
  /** For example `"us-east-1"`. */
  region: string;
  /** The service's name in the signature. Default `"bedrock"`. */
  service?: string | undefined;
  /**
   * Contract: a function is called before each request; it keeps what it has fetched and renews it when it expires.
   * What it throws ends the run as `failed`.
   */
  credentials: AwsCredentials | (() => AwsCredentials | PromiseLike<AwsCredentials>);
}

/** A model of Amazon Bedrock: the options of every model, a region, and `apiKey` or `credentials`. */
export interface BedrockOptions extends HttpModelOptions {
  /** For example `"us-east-1"`; makes the default `baseUrl`, `https://bedrock-runtime.<region>.amazonaws.com`. */
  region: string;
  /** Signs each request (Signature Version 4). Default: none, `apiKey` is a Bedrock API key. */
  credentials?: AwsSigV4Options["credentials"] | undefined;
}
