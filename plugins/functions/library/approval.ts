import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import { declaredCapabilities, type Capabilities } from "../calls/facts.ts";
import type { FunctionRow } from "./function-store.ts";
import type { Pending } from "../tables.ts";
import { isWideningReason, toWidened } from "./widening.ts";

const nothing: Capabilities = { fetch: [], complete: false, storage: false };

/**
 * What an administrator has to agree to before the author may switch the function on (contract D.40): capabilities that
 * reach outside and were not agreed to yet, any that were added while it was on, and the events of all people.
 */
export function toOpenReasons(row: FunctionRow): readonly string[] {
  const approved = row.approved as { capabilities?: Capabilities; type?: string } | null;
  const widened = toWidened(approved?.capabilities ?? nothing, declaredCapabilities(row.meta));
  const asked = isWideningReason(row.error) ? widened : widened.filter((name) => name !== "storage");
  return row.type === "event" && approved?.type !== "event" ? [...asked, "event"] : asked;
}

/** What an administrator agrees to by switching the function on. */
export function toApproved(row: FunctionRow) {
  return { capabilities: declaredCapabilities(row.meta), type: row.type };
}

/** The question with one more wish in it. */
export function addWish(row: FunctionRow, wish: { active: true } | { global: true }): Pending {
  const reasons = "global" in wish ? (row.pending?.reasons ?? []) : toOpenReasons(row);
  return { ...row.pending, ...wish, reasons, asked_at: seconds() };
}

/** The question without a wish that is granted or taken back; null when none is left. */
export function dropWish(pending: Pending | null, wish: "active" | "global"): Pending | null {
  if (pending === null) {
    return null;
  }
  const rest = { ...pending, [wish]: false, ...(wish === "active" ? { reasons: [] } : {}) };
  return rest.active || rest.global ? rest : null;
}

export const isAdmin = ({ role }: Pick<Principal, "role">): boolean => role === "admin";
