import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import { type Capabilities, declaredCapabilities, toWidened } from "#plugins/functions/service.ts";
import type { Pending } from "../tables.ts";
import type { ToolListRow } from "./tool-store.ts";

const nothing: Capabilities = { fetch: [], complete: false, storage: false };

/**
 * What an administrator has to agree to before models may call the tool: capabilities that reach outside and were not
 * agreed to yet (contract D.40). A store of its own needs no yes.
 */
export function toOpenReasons({ meta, approved }: Pick<ToolListRow, "meta" | "approved">): readonly string[] {
  const agreed = (approved as Capabilities | null) ?? nothing;
  return toWidened(agreed, declaredCapabilities(meta)).filter((name) => name !== "storage");
}

/** State of new code: an administrator agrees by saving it, everybody else asks. */
export function toApproval(
  caller: Principal,
  meta: Readonly<Record<string, unknown>>,
  before: Pick<ToolListRow, "approved"> | undefined,
): { approved: unknown; pending: Pending | null } {
  if (caller.role === "admin") {
    return { approved: declaredCapabilities(meta), pending: null };
  }
  const approved = before?.approved ?? null;
  const reasons = toOpenReasons({ meta: { ...meta }, approved });
  return { approved, pending: reasons.length > 0 ? { reasons, asked_at: seconds() } : null };
}

/** Why models may not call the tool now, as its author reads it; undefined when they may. */
export function findObstacle(row: Pick<ToolListRow, "meta" | "approved" | "error">): string | undefined {
  const reasons = toOpenReasons(row);
  return (
    row.error ??
    (reasons.length > 0
      ? `It waits for an administrator to agree to what it may do: ${reasons.join(", ")}.`
      : undefined)
  );
}
