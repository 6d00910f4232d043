import { createHash, randomBytes } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import type { MfaDatabase } from "../tables.ts";

const count = 10;
const bytes = 16;

/** Replaces the recovery codes of an account; they are shown once and kept as hashes (contract 1.2). */
export async function replaceRecoveryCodes(tx: MfaDatabase, userId: string): Promise<string[]> {
  const codes = Array.from({ length: count }, () => randomBytes(bytes).toString("hex"));
  await tx.deleteFrom("mfa_recovery_code").where("user_id", "=", userId).execute();
  await tx
    .insertInto("mfa_recovery_code")
    .values(codes.map((code) => ({ user_id: userId, hash: toHash(code), used_at: null })))
    .execute();
  return codes;
}

/** Takes one code, in one statement, so that of two uses at the same time one is refused. */
export async function takeRecoveryCode(tx: MfaDatabase, userId: string, text: string): Promise<boolean> {
  const code = normalizeCode(text).toLowerCase();
  if (!/^[\da-f]{32}$/.test(code)) {
    return false;
  }
  const taken = await tx
    .updateTable("mfa_recovery_code")
    .set({ used_at: seconds() })
    .where("user_id", "=", userId)
    .where("hash", "=", toHash(code))
    .where("used_at", "is", null)
    .returning("hash")
    .executeTakeFirst();
  return taken !== undefined;
}

/** Codes are typed with the gaps that lists show. */
export function normalizeCode(text: string): string {
  return text.replaceAll(/[\s-]/g, "");
}

/** SHA-256 in hex: what is hashed here is random and long enough to need no slower hash. */
export function toHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
