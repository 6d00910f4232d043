import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Seal } from "#kernel/seal.ts";
import type { Deployment } from "#kernel/services.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { ChannelBots } from "#plugins/channels/service.ts";
import type { EventDeliveries } from "#plugins/notifications/service.ts";
import type { AppDatabase, AppRow } from "./tables.ts";

/** The parts that the logic of apps needs. */
export interface AppParts {
  readonly db: AppDatabase;
  transaction<R>(run: (tx: AppDatabase) => Promise<R>): Promise<R>;
  readonly accounts: Pick<Accounts, "bots" | "pictures">;
  readonly channels: ChannelBots | undefined;
  readonly configuration: Pick<ConfigRegistry, "valueOf">;
  readonly deliveries: EventDeliveries | undefined;
  readonly deployment: Pick<Deployment, "instanceId" | "version" | "name">;
  readonly egress: Pick<Egress, "fetch">;
  readonly events: Events;
  readonly log: Logger;
  readonly record: Audit["record"];
  readonly seal: Seal;
  /** ENABLE_APPS. */
  isEnabled(): boolean;
  /** APP_ALLOWED_PRIVATE_ORIGINS. */
  privateOrigins(): readonly string[];
}

export interface RegistryParts extends AppParts {
  /** Tells all replicas that what they know of the apps is out of date. */
  changed(): Promise<void>;
}

export const receiverOf = (appId: string) => `app:${appId}`;
export const avatarOf = ({ user_id: userId, updated_at: at }: Pick<AppRow, "user_id" | "updated_at">) =>
  `/api/v1/users/${userId}/profile/image?v=${at}`;

/** True while channels are switched on: apps have nowhere to be without them. */
export function areChannelsOn({ channels, configuration }: Pick<AppParts, "channels" | "configuration">) {
  return channels !== undefined && configuration.valueOf("ENABLE_CHANNELS") === true;
}

export function requireChannels(parts: Pick<AppParts, "channels" | "configuration">): ChannelBots {
  if (parts.channels === undefined || !areChannelsOn(parts)) {
    throw new AppError("forbidden", "Channels are switched off.");
  }
  return parts.channels;
}

export async function requireApp(db: AppDatabase, id: string): Promise<AppRow> {
  const row = await db.selectFrom("app").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "App not found");
  }
  return row;
}

export const toActor = ({ userId: id, name, email, role }: Principal) => ({ id, name, email, role });
