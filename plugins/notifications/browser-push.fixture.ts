import { createDecipheriv, createECDH, createHmac, createPublicKey, randomBytes, verify } from "node:crypto";
import { expect } from "vitest";

const browser = createECDH("prime256v1");
browser.generateKeys();
const auth = randomBytes(16);

/** The keys of a browser that takes web push. */
export const keys = { p256dh: browser.getPublicKey("base64url"), auth: auth.toString("base64url") };

/** Decrypts a message as a browser does (RFC 8188, RFC 8291). */
export function decrypt(bytes: Buffer): unknown {
  const [salt, keyLength] = [bytes.subarray(0, 16), bytes[20] ?? 0];
  const sender = bytes.subarray(21, 21 + keyLength);
  const sealed = bytes.subarray(21 + keyLength);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), browser.getPublicKey(), sender]);
  const secret = hkdf(auth, browser.computeSecret(sender), info, 32);
  const key = hkdf(salt, secret, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = hkdf(salt, secret, Buffer.from("Content-Encoding: nonce\0"), 12);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return JSON.parse(text.subarray(0, text.lastIndexOf(2)).toString());
}

/** Checks the signature against the public key of the installation; answers the claims (RFC 8292). */
export function readVapid(header: string, publicKey: string): unknown {
  const [, token = "", key] = /^vapid t=([^,]+), ?k=(.+)$/.exec(header) ?? [];
  expect(key).toBe(publicKey);
  const [head, claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  const coordinate = (from: number) => point.subarray(from, from + 32).toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: coordinate(1), y: coordinate(33) };
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  expect(isSigned).toBe(true);
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

function hkdf(salt: Buffer, secret: Buffer, info: Buffer, length: number): Buffer {
  const key = createHmac("sha256", salt).update(secret).digest();
  return createHmac("sha256", key)
    .update(Buffer.concat([info, Buffer.from([1])]))
    .digest()
    .subarray(0, length);
}
