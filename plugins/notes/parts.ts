import type { Principal } from "#kernel/access/principal.ts";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { Files } from "#plugins/files/service.ts";
import { type NoteDatabase, type NoteRow, type NoteTransaction, resourceType } from "./tables.ts";

/** The permission that opens notes to somebody. */
export const permission = "features.notes";

/** The parts that the logic of notes needs. */
export interface NoteParts {
  readonly db: NoteDatabase;
  readonly transaction: NoteTransaction;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly chats: Chats;
  readonly events: Events;
  readonly files: Files;
  readonly grants: Grants;
  readonly hub: Hub;
  readonly log: Logger;
  /** The one way from an id to a note. */
  readonly notes: Loader<NoteRow>;
  /** The same without the text, for what is asked many times a second. */
  readonly heads: Loader<NoteHead>;
  /** True while notes are switched on and the caller may use them. */
  isOpen(principal: Principal): boolean;
}

/** The columns of a note that authorising needs. */
export type NoteHead = Pick<NoteRow, "id" | "user_id">;

/** True when notes are open to a caller: for what is not one of the plugin's routes. */
export function createIsOpen(isEnabled: () => boolean): NoteParts["isOpen"] {
  return (principal) => isEnabled() && hasPermission(principal, permission);
}

/** System events of notes (appendix A10). */
export function announce(
  { events }: Pick<NoteParts, "events">,
  event: "created" | "updated" | "deleted" | "pinned" | "unpinned" | "access_updated",
  { by, row, data }: { by: Principal | null; row: Pick<NoteRow, "id" | "title">; data?: object },
): void {
  events.announce(`note.${event}`, {
    actor: by && { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: resourceType, id: row.id },
    data: { id: row.id, title: row.title, ...data },
  });
}

/** Sends `events:note` to everybody who has the note open (contract §8): they read the record anew. */
export function emitNote(
  { hub }: Pick<NoteParts, "hub">,
  row: Pick<NoteRow, "id" | "title" | "updated_at">,
  change: "content" | "title" | "files" | "access" | "deleted",
): void {
  hub.emit(toRoom("note", row.id), "events:note", {
    id: row.id,
    title: row.title,
    updated_at: BigInt(row.updated_at),
    change,
  });
}
