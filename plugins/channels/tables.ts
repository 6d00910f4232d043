import type { ColumnType, Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** The kind of row that grants name. */
export const resourceType = "channel";

export type Bag = Record<string, unknown>;
type Json<T> = ColumnType<T, T, T>;
/** A time in epoch nanoseconds. */
type Nanoseconds = bigint;

/** Configuration document, Channel. `type` is null for a standard channel. */
export interface ChannelTable {
  id: string;
  /** Null once its creator's account is gone. */
  user_id: string | null;
  type: "group" | "dm" | null;
  /** Lower case. */
  name: string;
  description: string | null;
  is_private: boolean | null;
  data: Json<Bag | null>;
  meta: Json<Bag | null>;
  people: string | null;
  created_at: Nanoseconds;
  updated_at: Nanoseconds;
  updated_by: Generated<string | null>;
  archived_at: Generated<Nanoseconds | null>;
  archived_by: Generated<string | null>;
  deleted_at: Generated<Nanoseconds | null>;
  deleted_by: Generated<string | null>;
}

/** Configuration document, Channel member. */
export interface MemberTable {
  id: string;
  channel_id: string;
  user_id: string;
  role: Generated<string | null>;
  status: "joined" | "left";
  is_active: Generated<boolean>;
  is_channel_muted: Generated<boolean>;
  is_channel_pinned: Generated<boolean>;
  data: Generated<unknown>;
  meta: Generated<unknown>;
  invited_at: Nanoseconds | null;
  invited_by: string | null;
  joined_at: Nanoseconds;
  left_at: Nanoseconds | null;
  last_read_at: Nanoseconds | null;
  created_at: Nanoseconds;
  updated_at: Nanoseconds;
}

/** A message of a channel; `parent_id` names the message whose thread it belongs to. */
export interface MessageTable {
  id: string;
  user_id: string | null;
  channel_id: string;
  reply_to_id: string | null;
  parent_id: string | null;
  is_pinned: Generated<boolean>;
  pinned_by: string | null;
  pinned_at: Nanoseconds | null;
  content: string;
  /** `{files, mentions}` and further keys of clients. */
  data: Json<Bag | null>;
  /** `{model_id, model_name, done, error}` of a model, `{webhook}` of a webhook, and further keys. */
  meta: Json<Bag | null>;
  reply_count: Generated<number>;
  latest_reply_at: Generated<Nanoseconds | null>;
  writing_until: number | null;
  created_at: Nanoseconds;
  updated_at: Nanoseconds;
}

export interface ReactionTable {
  id: string;
  user_id: string;
  message_id: string;
  name: string;
  created_at: Nanoseconds;
}

/** Configuration document, Channel file. */
export interface ChannelFileTable {
  id: string;
  user_id: string;
  channel_id: string;
  file_id: string;
  message_id: string | null;
  created_at: number;
  updated_at: number;
}

/** Configuration document, Channel webhook. */
export interface WebhookTable {
  id: string;
  channel_id: string;
  user_id: string | null;
  name: string;
  profile_image_url: string | null;
  token: string;
  last_used_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface ChannelTables {
  channel: ChannelTable;
  channel_member: MemberTable;
  message: MessageTable;
  message_reaction: ReactionTable;
  channel_file: ChannelFileTable;
  channel_webhook: WebhookTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ChannelDatabase = PluginDatabase<ChannelTables>;
