import { AppError } from "#kernel/errors.ts";

/** Kinds of rooms. */
export type RoomKind = "user" | "chat" | "channel" | "note";

/**
 * The one name of a room, `kind:id`. Throws `not_found` for an id that no row can have: what is checked and what is
 * joined must be the same text.
 */
export function toRoom(kind: RoomKind, id: string): string {
  if (!/^[\w.@-]{1,200}$/.test(id)) {
    throw new AppError("not_found", "Not found");
  }
  return `${kind}:${id}`;
}
