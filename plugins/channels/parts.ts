import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { ChannelRow } from "./rows/channels.ts";
import { type ChannelDatabase, resourceType } from "./tables.ts";

export { resourceType } from "./tables.ts";

/** The parts that the logic of channels needs. */
export interface ChannelParts {
  readonly db: ChannelDatabase;
  transaction<R>(run: (tx: ChannelDatabase) => Promise<R>): Promise<R>;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly events: Events;
  readonly files: Files;
  readonly grants: Grants;
  readonly hub: Hub;
  readonly log: Logger;
  /**
   * The one way from an id to a row. Standard channels: the creator, administrators and grants. Group and direct ones:
   * those who joined, and administrators only there where they are members.
   */
  readonly channels: Loader<ChannelRow>;
  /** True while channels are switched on and the caller may use them. */
  isOpen(principal: Principal): boolean;
}

/** True when channels are open to a caller: for what is not one of the plugin's routes. */
export function createIsOpen(isEnabled: () => boolean): ChannelParts["isOpen"] {
  return (principal) => isEnabled() && hasPermission(principal, "features.channels");
}

/** System events of channels and their messages (appendix A10). */
export type ChannelEvent =
  | `channel.${"created" | "updated" | "deleted" | "message" | "member_added" | "member_removed" | "member_active_updated"}`
  | `channel.webhook.${"created" | "updated" | "deleted"}`
  | `message.${"created" | "updated" | "deleted" | "pinned" | "unpinned" | "reaction_added" | "reaction_removed"}`;

/** Tells the process what became of a channel; `by` is null for a webhook. */
export function announce(
  events: Events,
  event: ChannelEvent,
  { by, id, data }: { by: Principal | null; id: string; data?: Record<string, unknown> },
): void {
  events.announce(event, {
    actor: by && { id: by.userId, name: by.name, email: by.email, role: roleOf(by) },
    subject: { type: event.startsWith("message.") ? "message" : resourceType, id },
    data: data ?? null,
  });
}

/** Who an event of the socket comes from. */
export interface EventAuthor {
  readonly id: string | null;
  readonly name: string;
  readonly role: string;
}

/** Sends `events:channel` to everybody who has the channel open (contract §8). */
export function emitToChannel(
  hub: Hub,
  channel: Pick<ChannelRow, "id" | "name" | "type">,
  event: { type: string; data: unknown; messageId?: string; user: EventAuthor | null },
): void {
  hub.emit(toRoom("channel", channel.id), "events:channel", {
    channel_id: channel.id,
    message_id: event.messageId ?? null,
    data: { type: event.type, data: event.data },
    user: event.user,
    channel: { id: channel.id, name: channel.name, type: channel.type },
  });
}

/** Tells every window of a person that the list of channels has changed. */
export function emitListChange(hub: Hub, userId: string, channelId: string): void {
  hub.emit(toRoom("user", userId), "events:channel", {
    channel_id: channelId,
    message_id: null,
    data: { type: "channel:created", data: { id: channelId } },
    user: null,
    channel: { id: channelId },
  });
}

/** Brings a person's windows into the room, and tells them. */
export function welcome({ hub }: Pick<ChannelParts, "hub">, channelId: string, userId: string): void {
  hub.join(userId, toRoom("channel", channelId));
  emitListChange(hub, userId, channelId);
}

const roleOf = ({ app, role }: Principal) => (app === undefined ? role : "app");

export const toAuthor = (by: Principal): EventAuthor => ({ id: by.userId, name: by.name, role: roleOf(by) });

/** The creator and administrators; of a direct channel nobody is (channel member rule 3). */
export function isManager(caller: Principal, channel: Pick<ChannelRow, "user_id" | "type">): boolean {
  return channel.type !== "dm" && (channel.user_id === caller.userId || caller.role === "admin");
}
