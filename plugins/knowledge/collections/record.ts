import type { Principal } from "#kernel/access/principal.ts";
import type { AuditEntry, AuditVerb } from "#plugins/audit/service.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { KnowledgeParts } from "../parts.ts";
import { type CollectionRow, resourceType } from "../tables.ts";
import { type CollectionCounts, countFiles } from "./collection-store.ts";

const noFiles: CollectionCounts = { files: 0, size: 0, processing: 0, failed: 0 };

interface View {
  readonly grants: readonly GrantRow[];
  readonly writable: boolean;
  readonly owned: boolean;
  readonly counts: CollectionCounts;
}

/** The record of a collection (Core API, Knowledge collection; contract 6.2); grants are told to those who may write. */
export function toRecord(row: CollectionRow, { grants, writable, owned, counts }: View) {
  const { id, user_id, name, description, meta, created_at, updated_at } = row;
  return {
    id,
    user_id,
    type: "collection" as const,
    status: toStatus(counts),
    name,
    description,
    meta,
    access_grants: writable ? grants.map((grant) => ({ ...grant })) : [],
    write_access: writable,
    /** Whether the caller may delete and empty it. */
    owner_access: owned,
    file_count: counts.files,
    /** Bytes of its files. */
    size: counts.size,
    processing_count: counts.processing,
    error_count: counts.failed,
    created_at,
    updated_at,
  };
}

export type CollectionRecord = ReturnType<typeof toRecord>;

function toStatus({ processing, failed }: CollectionCounts): "processing" | "processed" | "error" {
  return processing > 0 ? "processing" : failed > 0 ? "error" : "processed";
}

/** The collections as the caller may see them, in the order given. The rows are the caller's to read. */
export async function showCollections(
  { db, access, grants }: Pick<KnowledgeParts, "db" | "access" | "grants">,
  caller: Principal,
  rows: readonly CollectionRow[],
): Promise<CollectionRecord[]> {
  const ids = rows.map(({ id }) => id);
  const [held, writable, counts] = await Promise.all([
    grants.list(resourceType, ids),
    grants.allowed(caller, "write", resourceType, ids),
    countFiles(db, ids),
  ]);
  const byCollection = Map.groupBy(held, (grant) => grant.resource_id);
  return rows.map((row) => {
    const owned = access.passes(caller) || row.user_id === caller.userId;
    return toRecord(row, {
      grants: byCollection.get(row.id) ?? [],
      owned,
      writable: owned || writable.has(row.id),
      counts: counts.get(row.id) ?? noFiles,
    });
  });
}

/** One collection as the caller may see it. */
export async function showCollection(
  parts: Pick<KnowledgeParts, "db" | "access" | "grants">,
  caller: Principal,
  row: CollectionRow,
): Promise<CollectionRecord> {
  return (await showCollections(parts, caller, [row]))[0] as CollectionRecord;
}

/** The audit record of one change. */
export function toEntry(
  action: AuditVerb,
  sides: { before?: CollectionRow; after?: CollectionRow; grants?: readonly GrantInput[]; files?: number },
): AuditEntry {
  const { before, after, grants, files } = sides;
  const row = after ?? before;
  const toState = ({ name, description, meta }: CollectionRow) => ({ name, description, meta });
  return {
    action: `knowledge.${action}`,
    object: { type: resourceType, id: row?.id ?? "", name: row?.name ?? null },
    ...(before && { before: { ...toState(before), ...(files !== undefined && { files }) } }),
    ...(after && {
      after: {
        ...toState(after),
        ...(grants && {
          access_grants: grants.map(({ principal_type: type, principal_id: id, permission }) => ({
            principal_type: type,
            principal_id: id,
            permission,
          })),
        }),
      },
    }),
  };
}
