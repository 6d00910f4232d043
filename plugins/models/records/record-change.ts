import type { AuditEntry } from "#plugins/audit/service.ts";
import type { GrantInput } from "#storage/grants.ts";
import { resourceType } from "../parts.ts";
import type { ModelRow } from "./store.ts";

type Kept = Pick<ModelRow, "name" | "base_model_id" | "params" | "meta" | "is_active"> & {
  readonly picture?: string | null | undefined;
};

/** A model on one side of a change; grants where the change is about them. */
export interface ModelSide {
  readonly row: Kept;
  readonly grants?: readonly GrantInput[] | undefined;
}

/** The audit record of a changed model. */
export function toEntry(
  action: "created" | "updated" | "deleted" | "imported",
  id: string,
  { before, after }: { readonly before?: ModelSide | undefined; readonly after?: ModelSide },
): AuditEntry {
  const name = after?.row.name ?? before?.row.name ?? null;
  return {
    action: `model.${action}`,
    object: { type: resourceType, id, name },
    ...(before && { before: toFields(before) }),
    ...(after && { after: toFields(after) }),
  };
}

function toFields({ row, grants }: ModelSide): Record<string, unknown> {
  const { name, base_model_id: base, params, meta, is_active: isActive, picture } = row;
  return {
    name,
    base_model_id: base,
    params,
    meta,
    is_active: isActive,
    // A row holds the beginning of an inline picture alone.
    ...(picture !== undefined && { picture: picture?.slice(0, 2100) ?? null }),
    ...(grants && { access_grants: grants.map(toGrant) }),
  };
}

/** Stored grants have an id and a time of their own, which a replacement renews. */
function toGrant({ principal_type: type, principal_id: id, permission }: GrantInput): object {
  return { principal_type: type, principal_id: id, permission };
}
