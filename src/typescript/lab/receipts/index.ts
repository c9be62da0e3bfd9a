/**
 * `looplet/receipts`: proofs of what a run has done, for those who were not there.
 *
 * The room `receipts/` chains the entries of a journal by hashes as they go into a store, and plays recorded runs
 * again to judge them by a policy. It has no engine of its own; import an entry of looplet as well.
 */
export { signedBytes, type Receipt } from "./chain.js";
export { receipts, type ReceiptOptions, type ReceiptStore, type Signature } from "./store.js";
export { verify, type Verification, type VerifiedCheck, type VerifyOptions } from "./verify.js";
export type { RunPolicy } from "./policy.js";
