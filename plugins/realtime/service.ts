import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";
import type { RoomKind } from "#kernel/sockets/rooms.ts";

/**
 * The rooms, as `toRoom` names them, that a person's connection enters when the client emits `user-join` or
 * `join-channels`: those of channels that the person is an active member of, for example. The filling plugin brings
 * people in and out later with `hub.join` and `hub.leave`.
 */
export type UserRooms = (principal: Principal) => Promise<readonly string[]>;
export const userRooms = defineSlot<UserRooms>("realtime.user-rooms");

/**
 * Says whether a person may emit events into a channel now: asked for each event, since a window may be in the room of a
 * channel that was closed to its person a moment ago. Throws `not_found`.
 */
export interface ChannelEvents {
  require(principal: Principal, channelId: string): Promise<void>;
}
export const channelEvents = defineSlot<ChannelEvents>("realtime.channel-events");

/** Notes that a person has read a channel or chat up to now. Throws `not_found` when the person may not read it. */
export interface ReadMarks {
  readonly kind: "channel" | "chat";
  mark(principal: Principal, id: string): Promise<void>;
}
export const readMarks = defineSlot<ReadMarks>("realtime.read-marks");

/**
 * Rooms of a kind that people enter by opening something, and that they are put out of when they may not read it any
 * more: asked after an account, its groups or permissions change, and by `hub.renewRooms`.
 */
export interface GuardedRooms {
  readonly kind: RoomKind;
  mayStay(principal: Principal, id: string): Promise<boolean>;
  /** Called once a session is out of the room. */
  expelled(sessionId: string, id: string): void;
}
export const guardedRooms = defineSlot<GuardedRooms>("realtime.guarded-rooms");
