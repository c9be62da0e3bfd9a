/** The public key of receipts, as a file has it. */
import { Buffer } from "node:buffer";
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { UsageError } from "./command.js";
import { textFile } from "./files.js";

/** The beginning of a public key of Ed25519 in DER, before its 32 bytes. RFC 8410, section 10.1. */
const ED25519_DER = Buffer.from("302a300506032b6570032100", "hex");

/** Checks signatures of Ed25519, ECDSA (SHA-256, as WebCrypto writes it) and RSA. @throws UsageError */
export async function signatureCheck(
  path: string,
): Promise<(bytes: Uint8Array, signature: Uint8Array) => boolean> {
  const key = keyIn(await textFile(path), path);
  const isEdwards = key.asymmetricKeyType === "ed25519" || key.asymmetricKeyType === "ed448";
  return (bytes, signature) => {
    try {
      return verify(isEdwards ? null : "sha256", bytes, { key, dsaEncoding: "ieee-p1363" }, signature);
    } catch {
      return false;
    }
  };
}

function keyIn(text: string, path: string): KeyObject {
  const trimmed = text.trim();
  try {
    if (trimmed.startsWith("{")) return createPublicKey({ key: JSON.parse(trimmed) as never, format: "jwk" });
    if (trimmed.startsWith("-----")) return createPublicKey(trimmed);
    const raw = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? "hex" : "base64");
    const der = raw.length === 32 ? Buffer.concat([ED25519_DER, raw]) : raw;
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    throw new UsageError(
      `${path} is not a public key: it needs PEM, a JWK, or the key in base64 (SPKI, or 32 bytes of Ed25519)`,
    );
  }
}
