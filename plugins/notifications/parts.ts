import type { ConfigRegistry } from "#config/registry.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Events } from "#kernel/events.ts";
import type { Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Seal } from "#kernel/seal.ts";
import type { Deployment } from "#kernel/services.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { ChannelReaders } from "#plugins/channels/service.ts";
import type { NotificationDatabase } from "./tables.ts";

/** The parts that the logic of notifications needs. */
export interface NotificationParts {
  readonly db: NotificationDatabase;
  transaction<R>(run: (tx: NotificationDatabase) => Promise<R>): Promise<R>;
  readonly access: Access;
  readonly accounts: Pick<Accounts, "principalOf" | "settingsOf" | "summaries">;
  readonly channels: ChannelReaders | undefined;
  readonly configuration: Pick<ConfigRegistry, "valueOf" | "valueOr">;
  readonly deployment: Pick<Deployment, "instanceId" | "version" | "name">;
  readonly egress: Pick<Egress, "fetch" | "mayReach">;
  readonly events: Events;
  readonly hub: Pick<Hub, "emit" | "isHere" | "contribute" | "find">;
  readonly jobs: Pick<Jobs, "enqueue">;
  readonly log: Logger;
  readonly seal: Seal;
}

export const toActor = ({ userId: id, name, email, role }: Principal) => ({ id, name, email, role });
