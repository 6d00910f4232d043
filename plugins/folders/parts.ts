import type { Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { Slot } from "#kernel/service.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { FolderChats } from "#plugins/chats/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { ModelReferences } from "#plugins/models/service.ts";
import type { FolderRow } from "./store.ts";
import type { FolderDatabase } from "./tables.ts";

/** The kind of row that grants name. */
export const resourceType = "folder";

/** What the logic of folders is made of. */
export interface FolderParts {
  readonly db: FolderDatabase;
  transaction<R>(run: (tx: FolderDatabase) => Promise<R>): Promise<R>;
  readonly accounts: Accounts;
  readonly chats: FolderChats;
  readonly events: Events;
  readonly files: Files;
  readonly grants: Grants;
  readonly hub: Hub;
  /** Access to items other than files that a folder lends. */
  readonly references: Slot<ModelReferences>;
  /** The one way from an id to a row: owners, and those it was shared with; administrators are as everybody else. */
  readonly folders: Loader<FolderRow>;
  /** FOLDER_MAX_FILE_COUNT. */
  maxFiles(): number | null;
}

/** System events of folders (appendix A10). */
export type FolderEvent = `folder.${"created" | "updated" | "deleted" | "parent_updated" | "access_updated"}`;

export interface FolderEventDetails {
  readonly by: Principal;
  readonly id: string;
  readonly data?: Record<string, unknown>;
}

/** Tells the process what became of a folder. */
export function announce(events: Events, event: FolderEvent, { by, id, data }: FolderEventDetails): void {
  events.announce(event, {
    actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: resourceType, id },
    data: data ?? null,
  });
}
