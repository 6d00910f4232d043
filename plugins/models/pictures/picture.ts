import type { Principal } from "#kernel/access/principal.ts";
import type { ModelParts } from "../parts.ts";
import { findPicture } from "../records/store.ts";

/** The stored picture of a model that the caller may use; null for none, and for a model that is not theirs to see. */
export async function findShownPicture(
  { db, records, permit }: Pick<ModelParts, "db" | "records" | "permit">,
  caller: Principal,
  id: string,
): Promise<string | null> {
  const record = (await records.fresh()).get(id);
  return record && permit.record(caller, record) ? await findPicture(db, id) : null;
}
