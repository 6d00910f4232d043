import type { PartialPermissionTree } from "#kernel/access/permissions.ts";
import type { CountedGroup } from "./groups-store.ts";

/** The part of a group that members see. */
export interface GroupInfo {
  id: string;
  name: string;
  description: string;
  member_count: number;
  created_at: number;
  updated_at: number;
}

/** A group as admins see it. */
export interface GroupRecord extends GroupInfo {
  user_id: string | null;
  data: unknown;
  meta: unknown;
  permissions: PartialPermissionTree | null;
}

/** The group as members see it. */
export function toGroupInfo(row: CountedGroup): GroupInfo {
  const { id, name, description, member_count, created_at, updated_at } = row;
  return { id, name, description, member_count, created_at, updated_at };
}

/** The group as admins see it. */
export function toGroupRecord(row: CountedGroup): GroupRecord {
  const permissions = row.permissions as PartialPermissionTree | null;
  return { ...toGroupInfo(row), user_id: row.user_id, data: row.data, meta: row.meta, permissions };
}
