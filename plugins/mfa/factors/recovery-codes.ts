import { createHash, randomInt } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import type { MfaDatabase } from "../tables.ts";

const count = 10;
// Crockford's base 32: no letter of it is taken for another when it is read from paper. 12 of them are 60 bits.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const groups = 3;
const groupLength = 4;

/** Replaces the recovery codes of an account; they are shown once and kept as hashes (contract 1.2). */
export async function replaceRecoveryCodes(tx: MfaDatabase, userId: string): Promise<string[]> {
  const codes = Array.from({ length: count }, createCode);
  await tx.deleteFrom("mfa_recovery_code").where("user_id", "=", userId).execute();
  await tx
    .insertInto("mfa_recovery_code")
    .values(codes.map((code) => ({ user_id: userId, hash: toHash(normalizeCode(code)), used_at: null })))
    .execute();
  return codes;
}

/** Takes one code, in one statement, so that of two uses at the same time one is refused. */
export async function takeRecoveryCode(tx: MfaDatabase, userId: string, text: string): Promise<boolean> {
  const code = toLetters(normalizeCode(text));
  // Codes of before were 32 hexadecimal digits.
  if (!/^(?:[\da-z]{12}|[\da-f]{32})$/.test(code)) {
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

function createCode(): string {
  const group = () =>
    Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join("");
  return Array.from({ length: groups }, group).join("-");
}

/** Letters that people read for others. */
function toLetters(code: string): string {
  return code.toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1");
}

/** Codes are typed with the gaps that lists show. */
export function normalizeCode(text: string): string {
  return text.replaceAll(/[\s-]/g, "");
}

/** SHA-256 in hex: what is hashed here is random and long enough to need no slower hash. */
export function toHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
