import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";

/**
 * The rooms, as `toRoom` names them, that a person's connection enters when the client emits `user-join` or
 * `join-channels`: those of channels that the person is an active member of, for example. The filling plugin brings
 * people in and out later with `hub.join` and `hub.leave`.
 */
export type UserRooms = (principal: Principal) => Promise<readonly string[]>;
export const userRooms = defineSlot<UserRooms>("realtime.user-rooms");

/** Notes that a person has read a channel or chat up to now. Throws `not_found` when the person may not read it. */
export interface ReadMarks {
  readonly kind: "channel" | "chat";
  mark(principal: Principal, id: string): Promise<void>;
}
export const readMarks = defineSlot<ReadMarks>("realtime.read-marks");
