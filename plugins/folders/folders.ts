import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { isUniqueViolation } from "#storage/errors.ts";
import { filesOf, requireKnowledge } from "./knowledge.ts";
import { announce, type FolderParts } from "./parts.ts";
import type { KnowledgeItem } from "./service.ts";
import {
  findFolder,
  findPath,
  type FolderRow,
  type FolderValues,
  insertFolder,
  listFolders,
  lockFolder,
  lockTree,
  setExpanded,
  updateFolder,
} from "./store.ts";
import { show, type ShownFolder } from "./view.ts";

/** What a form says of a folder; what is undefined stays as it is. */
export interface FolderForm {
  readonly name?: string | undefined;
  readonly data?: Record<string, unknown> | null | undefined;
  readonly meta?: Record<string, unknown> | null | undefined;
  /** Kept as it is sent. */
  readonly items?: unknown;
}

export interface NewFolder extends FolderForm {
  readonly name: string;
  readonly parent_id?: string | null | undefined;
}

export type FolderActions = ReturnType<typeof createFolderActions>;

/** What people do with single folders. */
export function createFolderActions(parts: FolderParts) {
  const { db, transaction, folders, events, chats } = parts;

  return {
    /** The caller's folders by name, as one flat list. */
    async list(caller: Principal) {
      const rows = await listFolders(db, caller.userId);
      const unread = await chats.unread(rows.map(({ id }) => id));
      return rows.map(({ id, name, meta, parent_id, is_expanded, created_at, updated_at }) => {
        const counted = { unread_count: unread.get(id) ?? 0, created_at, updated_at };
        return { id, name, meta, parent_id, is_expanded, ...counted };
      });
    },

    /** Throws `conflict` for a name that a folder beside it has, `not_found` for a parent that is not the caller's. */
    async create(caller: Principal, form: NewFolder): Promise<ShownFolder> {
      const values = merge(form, { name: form.name, data: {}, meta: {}, items: null });
      await requireKnowledge(parts, caller, { sent: filesOf(values), held: [] });
      const parentId = form.parent_id ?? null;
      const place = { id: randomUUID(), user_id: caller.userId, parent_id: parentId };
      const row = await withFreeName(values.name, () =>
        transaction(async (tx) => {
          await lockTree(tx, caller.userId);
          if (parentId !== null && (await findPath(tx, caller.userId, parentId)).length === 0) {
            throw new AppError("not_found", "Parent folder not found");
          }
          return await insertFolder(tx, place, values);
        }),
      );
      announce(events, "folder.created", { by: caller, id: row.id, data: { name: row.name } });
      return await show(parts, caller, row);
    },

    get: async (caller: Principal, id: string): Promise<ShownFolder> =>
      await show(parts, caller, await folders.load(caller, id, "read")),

    /** Changes what the form names; keys of `data` and `meta` that it leaves out stay, null takes one away. */
    async update(caller: Principal, id: string, form: FolderForm): Promise<ShownFolder> {
      const before = await folders.load(caller, id, "write");
      const files = form.data?.["files"];
      if (files !== undefined && files !== null) {
        await requireKnowledge(parts, caller, { sent: files as KnowledgeItem[], held: filesOf(before) });
      }
      await withFreeName(form.name ?? before.name, () =>
        transaction(async (tx) => {
          // Laid over the row of now: somebody else's change of another field must not be undone.
          const row = found(await lockFolder(tx, id));
          await updateFolder(tx, id, merge(form, row));
        }),
      );
      const row = found(await findFolder(db, id));
      announce(events, "folder.updated", { by: caller, id, data: { name: row.name } });
      return await show(parts, caller, row);
    },

    /** Notes how the owner's list shows the folder. */
    async expand(caller: Principal, id: string, isExpanded: boolean): Promise<ShownFolder> {
      await loadOwn(parts, caller, id);
      await setExpanded(db, id, isExpanded);
      return await show(parts, caller, found(await findFolder(db, id)));
    },

    /** Marks every chat in the folder as read. */
    async markRead(caller: Principal, id: string): Promise<ShownFolder> {
      const row = await loadOwn(parts, caller, id);
      await chats.markRead([id]);
      const data = { folder_id: id, folder_unread_counts: { [id]: 0 } };
      parts.hub.emit(toRoom("user", caller.userId), "events", toEnvelope({ type: "chat:list", data }));
      return await show(parts, caller, row);
    },
  };
}

/** The caller's own folder. Throws `forbidden` for one that is only shared with the caller, else `not_found`. */
export async function loadOwn(
  { folders }: Pick<FolderParts, "folders">,
  caller: Principal,
  id: string,
): Promise<FolderRow> {
  const row = await folders.load(caller, id, "read");
  if (row.user_id !== caller.userId) {
    throw new AppError("forbidden", "Only the owner of a folder may do this.");
  }
  return row;
}

/** The row. Throws `not_found` when somebody took it away meanwhile. */
export function found(row: FolderRow | undefined): FolderRow {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** Runs a change that may give a name twice: `conflict` (contract D.1). */
export async function withFreeName<T>(name: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isUniqueViolation(error) === "folder_name") {
      throw new AppError("conflict", `There is a folder named "${name}" here already.`, { cause: error });
    }
    throw error;
  }
}

function merge(form: FolderForm, before: FolderValues): FolderValues {
  return {
    name: form.name ?? before.name,
    data: mergeBag(before.data, form.data),
    meta: mergeBag(before.meta, form.meta),
    items: form.items === undefined ? before.items : form.items,
  };
}

function mergeBag(before: Record<string, unknown>, sent: Record<string, unknown> | null | undefined) {
  const merged = { ...before, ...sent };
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== null && value !== undefined),
  );
}
