import type { Generated, JSONColumnType } from "kysely";

// Times are epoch seconds. Ids are text. JSON columns are jsonb; write arrays and scalars with toJson().

export type Json = Record<string, unknown>;
/** A jsonb column that always holds a value, or gets its default. */
export type JsonColumn<T extends object = Json> = JSONColumnType<T, T | undefined, T>;
/** A jsonb column that may be NULL. */
export type NullableJson<T extends object = Json> = JSONColumnType<T | null, T | null | undefined, T | null>;

export type UserRole = "admin" | "user" | "pending";

export interface UserTable {
  id: string;
  /** Lower-cased and unique. */
  email: string;
  username: string | null;
  role: UserRole;
  /** The account of a program: it has no sign-in, and no list of people shows it. */
  is_bot: Generated<boolean>;
  name: string;
  profile_image_url: string | null;
  profile_banner_image_url: string | null;
  bio: string | null;
  gender: string | null;
  /** ISO date, e.g. 1990-04-30. */
  date_of_birth: string | null;
  timezone: string | null;
  presence_state: string | null;
  status_emoji: string | null;
  status_message: string | null;
  status_expires_at: number | null;
  info: NullableJson;
  settings: NullableJson;
  variables: NullableJson;
  oauth: NullableJson;
  scim: NullableJson;
  /** Part of every session token; changing it ends all sessions of the account. */
  session_stamp: Generated<string>;
  last_active_at: number;
  updated_at: number;
  created_at: number;
}

export interface GroupTable {
  id: string;
  user_id: string | null;
  name: string;
  description: Generated<string>;
  data: NullableJson;
  meta: NullableJson;
  /** Partial tree, or null for none. */
  permissions: NullableJson;
  created_at: number;
  updated_at: number;
}

export interface GroupMemberTable {
  group_id: string;
  user_id: string;
  created_at: number;
}

export type PrincipalType = "user" | "group" | "anyone";
export type GrantPermission = "read" | "write";

export interface AccessGrantTable {
  id: Generated<number>;
  resource_type: string;
  resource_id: string;
  principal_type: PrincipalType;
  principal_id: string;
  permission: GrantPermission;
  created_at: number | null;
}

export interface ConfigTable {
  key: string;
  /** Any JSON value. */
  value: unknown;
  updated_at: number;
  updated_by: string | null;
  /** Another one after each change. */
  version: Generated<number>;
}

/** Session tokens that were signed out before they expired. */
export interface RevokedTokenTable {
  jti: string;
  expires_at: number;
}

/** Secrets the deployment made for itself, e.g. the one that signs sessions. */
export interface SecretTable {
  name: string;
  value: string;
}

/** Tables of the platform itself, which every plugin may read. */
export interface CoreTables {
  user: UserTable;
  group: GroupTable;
  group_member: GroupMemberTable;
  access_grant: AccessGrantTable;
  config: ConfigTable;
  revoked_token: RevokedTokenTable;
  secret: SecretTable;
}
