/**
 * `looplet/receipts`: proofs of what a run has done, for third parties.
 *
 * The folder `receipts/` chains the entries of a journal by hashes as they are stored, and plays recorded runs again
 * to check them against a policy. It contains no engine: also import an entry of looplet.
 */
export { signedBytes, type Receipt } from "./chain.js";
export { receipts, type ReceiptOptions, type ReceiptStore, type Signature } from "./store.js";
export { verify, type Verification, type VerifiedCheck, type VerifyOptions } from "./verify.js";
export type { RunPolicy } from "./policy.js";
