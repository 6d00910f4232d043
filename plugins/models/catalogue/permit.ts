import { isMember, type Principal } from "#kernel/access/principal.ts";
import { isAmong } from "#kernel/completion/audience.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { AvailableModel } from "./available-models.ts";
import type { ModelRecord } from "../records/records.ts";

type Grants = readonly { principal_type: string; principal_id: string; permission: string }[];

/** Access to models, decided over the copy in memory. */
export interface Permit {
  /** True when every model is open: to administrators, and with BYPASS_MODEL_ACCESS_CONTROL to all. */
  all(principal: Principal): boolean;
  record(principal: Principal, record: ModelRecord): boolean;
  /** Read access holds along the whole chain: a record must not open a base model the caller may not use. */
  model(principal: Principal, entry: AvailableModel): boolean;
  /** By grants alone, for models that are no rows. */
  grants(principal: Principal, grants: Grants): boolean;
}

export function createPermit(access: Access, bypass: () => boolean): Permit {
  const all = (principal: Principal) => bypass() || access.passes(principal);
  const record = (principal: Principal, saved: ModelRecord) =>
    all(principal) || saved.user_id === principal.userId || isGranted(saved.grants, principal);
  return {
    all,
    record,
    grants: (principal, grants) => all(principal) || (isMember(principal) && isGranted(grants, principal)),
    model(principal, { chain, base }) {
      if (all(principal)) {
        return true;
      }
      const isBaseOpen =
        chain.some((saved) => saved.base_model_id === null) || isAmong(base.access, principal);
      return isMember(principal) && isBaseOpen && chain.every((saved) => record(principal, saved));
    },
  };
}

function isGranted(grants: Grants, principal: Principal): boolean {
  return grants.some(
    ({ principal_type: type, principal_id: id }) =>
      (type === "user" && (id === "*" || id === principal.userId)) ||
      (type === "group" && principal.groupIds.includes(id)),
  );
}
