import {
  createCipheriv,
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";

export const licenseKey = "abcd-1234-wxyz";
const issuer = generateKeyPairSync("ed25519");

export const toKeyText = (key: KeyObject): string =>
  key.export({ format: "der", type: "spki" }).toString("base64");

/** LICENSE_PUBLIC_KEY of the licenses that `toLicense` makes. */
export const issuerKey = toKeyText(issuer.publicKey);

/** Encrypts as issuers do: the nonce, the content, and the tag at the end. */
function encrypt(text: string): Buffer {
  const secret = createHash("sha256").update("ABCD1234WXYZ").digest();
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", secret, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** A license file of this content, made for `licenseKey`. */
export function toLicense(content: object): string {
  const p = encrypt(JSON.stringify(content)).toString("base64");
  const s = sign(null, Buffer.from(p), issuer.privateKey).toString("base64");
  return encrypt(JSON.stringify({ p, s })).toString("base64");
}
