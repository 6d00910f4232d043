import { createDecipheriv, createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { open } from "node:fs/promises";
import { z } from "zod";
import type { Logger } from "#kernel/log.ts";

/** What the license inputs say (configuration document, LICENSE_*). It is shown; nothing depends on it. */
export interface LicenseReport {
  /** `noted`: there are inputs, but no file and key that belong together. */
  readonly state: "none" | "noted" | "valid" | "expired" | "unreadable";
  /** Why the file cannot be read. */
  readonly reason: string | null;
  /** The end of LICENSE_KEY. */
  readonly key_hint: string | null;
  readonly file: { readonly path: string; readonly bytes: number } | null;
  /** SHA-256 of LICENSE_PUBLIC_KEY. */
  readonly public_key: string | null;
  readonly licensee: string | null;
  readonly seats: number | null;
  /** ISO date of the last day. */
  readonly expires: string | null;
}

export interface LicenseInputs {
  readonly key: string;
  readonly path: string;
  readonly publicKey: string;
}

/** A license is a few lines; what is larger is something else. */
const maxBytes = 1024 * 1024;
const nonceBytes = 12;
const tagBytes = 16;

const Envelope = z.object({ p: z.string(), s: z.string() });
const Content = z.object({
  name: z.string().max(1000).optional(),
  count: z.number().optional(),
  exp: z.iso.date().optional(),
});

/** Reads the inputs once; a file that cannot be read is reported and logged, never thrown. */
export async function readLicense(
  inputs: LicenseInputs,
  log: Pick<Logger, "warn">,
): Promise<() => LicenseReport> {
  const { key, path } = inputs;
  const base: LicenseReport = {
    state: "none",
    reason: null,
    key_hint: key === "" ? null : `…${key.slice(-4)}`,
    file: null,
    public_key: null,
    licensee: null,
    seats: null,
    expires: null,
  };
  try {
    const publicKey = inputs.publicKey === "" ? undefined : toPublicKey(inputs.publicKey);
    const bytes = await readBounded(path);
    const known = {
      ...base,
      file: bytes === undefined ? null : { path, bytes: bytes.byteLength },
      public_key: publicKey === undefined ? null : toFingerprint(publicKey),
    };
    if (bytes === undefined || key === "" || publicKey === undefined) {
      const isSet = bytes !== undefined || key !== "" || publicKey !== undefined;
      return () => ({ ...known, state: isSet ? "noted" : "none" });
    }
    return judge(known, openLicense(bytes.toString("latin1"), key, publicKey));
  } catch (error) {
    const reason = error instanceof LicenseError ? error.message : "The license file cannot be read.";
    log.warn({ err: error }, "the license inputs cannot be read; nothing depends on them");
    return () => ({ ...base, state: "unreadable", reason });
  }
}

class LicenseError extends Error {}

/** The day of now decides: a process outlives the last day of a license. */
function judge(known: LicenseReport, { name, count, exp }: z.output<typeof Content>): () => LicenseReport {
  const read = { ...known, licensee: name ?? null, seats: count ?? null, expires: exp ?? null };
  return () => ({
    ...read,
    state: exp !== undefined && exp < new Date().toISOString().slice(0, 10) ? "expired" : "valid",
  });
}

/** Decrypts the file with the key, checks the signature of what is inside, and decrypts that. */
function openLicense(text: string, key: string, publicKey: KeyObject): z.output<typeof Content> {
  const secret = createHash("sha256").update(key.replaceAll("-", "").toUpperCase()).digest();
  const { p, s } = parse(Envelope, decrypt(Buffer.from(text, "base64"), secret));
  if (!verify(null, Buffer.from(p), publicKey, Buffer.from(s, "base64"))) {
    throw new LicenseError("The signature of the license file is not by LICENSE_PUBLIC_KEY.");
  }
  return parse(Content, decrypt(Buffer.from(p, "base64"), secret));
}

/** AES-256-GCM: the nonce, the content, and the tag at the end. */
function decrypt(bytes: Buffer, secret: Buffer): string {
  try {
    const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const content = bytes.subarray(nonceBytes, -tagBytes);
    return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
  } catch (error) {
    throw new LicenseError("LICENSE_KEY does not open the license file.", { cause: error });
  }
}

function parse<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new LicenseError("The license file does not hold a license.", { cause: error });
  }
}

/** Takes PEM, or its lines without the frame. */
function toPublicKey(text: string): KeyObject {
  try {
    const der = Buffer.from(text.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    if (key.asymmetricKeyType === "ed25519") {
      return key;
    }
  } catch (error) {
    throw new LicenseError("LICENSE_PUBLIC_KEY is no public key.", { cause: error });
  }
  throw new LicenseError("LICENSE_PUBLIC_KEY is not of the kind Ed25519.");
}

function toFingerprint(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ format: "der", type: "spki" }))
    .digest("hex");
}

/** Undefined without a file. */
async function readBounded(path: string): Promise<Buffer | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") {
      return undefined;
    }
    throw new LicenseError(`The license file cannot be opened (${error.code}).`, { cause: error });
  });
  try {
    const bytes = await file?.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    if (bytes !== undefined && bytes.bytesRead > maxBytes) {
      throw new LicenseError("The license file is larger than 1 MiB.");
    }
    return bytes?.buffer.subarray(0, bytes.bytesRead);
  } finally {
    await file?.close();
  }
}
