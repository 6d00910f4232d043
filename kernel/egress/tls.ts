import { readFile } from "node:fs/promises";
import type { PeerCertificate } from "node:tls";
import { AppError } from "#kernel/errors.ts";

/** How TLS peers are verified, as the settings say at this moment. */
export interface TlsSettings {
  /** AIOHTTP_CLIENT_SESSION_SSL: true verifies, false does not, a path names a CA bundle. */
  readonly ssl: boolean | string;
  /** AIOHTTP_CLIENT_SSL_CERT_FILE: CA bundle while verification is on, "" for the built-in ones. */
  readonly caFile: string;
  /** SSL_ASSERT_FINGERPRINT: SHA-1 or SHA-256 of the peer's certificate in hex, "" for any. */
  readonly fingerprint: string;
}

/** TLS options of a connection. */
export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
}

/** Names settings: connections made under other settings must not be used again. */
export function toTlsKey({ ssl, caFile, fingerprint }: TlsSettings): string {
  return JSON.stringify([ssl, caFile, fingerprint]);
}

/** Reads the CA bundle where one is set; throws AppError "unavailable" when it cannot be read. */
export async function openTls({ ssl, caFile }: TlsSettings): Promise<TlsOptions> {
  if (ssl === false) {
    return { rejectUnauthorized: false };
  }
  const path = typeof ssl === "string" && ssl !== "" ? ssl : caFile;
  if (path === "") {
    return { rejectUnauthorized: true };
  }
  try {
    return { rejectUnauthorized: true, ca: await readFile(path, "utf8") };
  } catch (cause) {
    throw new AppError("unavailable", "The CA bundle of the outbound client cannot be read.", { cause });
  }
}

/** Throws AppError "upstream" unless the certificate has the expected fingerprint (colons and case do not matter). */
export function requireFingerprint(certificate: PeerCertificate, expected: string): void {
  const wanted = expected.replaceAll(":", "").trim().toLowerCase();
  const given = wanted.length === 40 ? certificate.fingerprint : certificate.fingerprint256;
  if (given === undefined || given.replaceAll(":", "").toLowerCase() !== wanted) {
    throw new AppError("upstream", "The upstream's certificate is not the expected one.");
  }
}
