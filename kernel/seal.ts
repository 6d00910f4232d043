import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { AppError } from "./errors.ts";

/** Encrypts values that must not be readable in the database, its dumps and its backups. */
export interface Seal {
  /** `place` names where the value is kept, such as `function:weather`; it opens nowhere else. */
  seal(value: unknown, place: string): string;
  /** The value again. Throws AppError `unavailable` when the secret key is another one by now. */
  open(sealed: string, place: string): unknown;
}

const prefix = "sealed:v1:";
const [ivBytes, tagBytes] = [12, 16];

/** Creates a seal whose key is derived from the installation's secret key, one per purpose. */
export function createSeal(secretKey: string, purpose: string): Seal {
  const key = new Uint8Array(hkdfSync("sha256", secretKey, "", `seal ${purpose}`, 32));
  return {
    seal(value, place) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(JSON.stringify(value ?? null), "utf8"), cipher.final()]);
      return prefix + Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, place) {
      try {
        const bytes = Buffer.from(sealed.slice(prefix.length), "base64url");
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivBytes));
        decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const body = decipher.update(bytes.subarray(ivBytes + tagBytes));
        return JSON.parse(Buffer.concat([body, decipher.final()]).toString("utf8"));
      } catch (cause) {
        throw new AppError(
          "unavailable",
          "An encrypted setting cannot be read: WEBUI_SECRET_KEY is not the one it was saved with.",
          { cause },
        );
      }
    },
  };
}

/** Tells what `seal` made from a plain value. */
export function isSealed(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(prefix);
}
