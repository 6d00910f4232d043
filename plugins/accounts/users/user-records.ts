import { seconds } from "#storage/clock.ts";
import type { UserRow } from "./users-store.ts";

/** Accounts seen within this many seconds count as active. */
export const activeWindow = 180;

/** Presence and status text, as every list shows them. */
export interface StatusFields {
  status_emoji: string | null;
  status_message: string | null;
  status_expires_at: number | null;
}

/** The part of an account that other members see. */
export interface UserInfo extends StatusFields {
  id: string;
  name: string;
  email: string;
  role: string;
  profile_image_url: string;
  bio: string | null;
  is_active: boolean;
}

/** An account as admins see it; settings stay out because they may hold the person's own keys. */
export interface UserRecord extends UserInfo {
  username: string | null;
  profile_banner_image_url: string | null;
  gender: string | null;
  date_of_birth: string | null;
  timezone: string | null;
  presence_state: string | null;
  info: unknown;
  oauth: unknown;
  scim: unknown;
  last_active_at: number;
  updated_at: number;
  created_at: number;
}

/** Where an account's picture is answered; records name it instead of carrying the bytes. */
export function profileImagePath(userId: string): string {
  return `/api/v1/users/${encodeURIComponent(userId)}/profile/image`;
}

/** The status of an account; one that has run out is none. */
export function toStatus(row: UserRow): StatusFields {
  const expires = row.status_expires_at;
  if (expires !== null && expires <= seconds()) {
    return { status_emoji: null, status_message: null, status_expires_at: null };
  }
  return { status_emoji: row.status_emoji, status_message: row.status_message, status_expires_at: expires };
}

/** True for an account seen within the last three minutes. */
export function isActive(row: Pick<UserRow, "last_active_at">): boolean {
  return row.last_active_at > seconds() - activeWindow;
}

/** The account as other members may see it. */
export function toUserInfo(row: UserRow): UserInfo {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    profile_image_url: profileImagePath(row.id),
    bio: row.bio,
    ...toStatus(row),
    is_active: isActive(row),
  };
}

/** The account as admins see it. */
export function toUserRecord(row: UserRow): UserRecord {
  return {
    ...toUserInfo(row),
    username: row.username,
    profile_banner_image_url: row.profile_banner_image_url,
    gender: row.gender,
    date_of_birth: row.date_of_birth,
    timezone: row.timezone,
    presence_state: row.presence_state,
    info: row.info,
    oauth: row.oauth,
    scim: row.scim,
    last_active_at: row.last_active_at,
    updated_at: row.updated_at,
    created_at: row.created_at,
  };
}
