import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { attempt } from "./list-changes.ts";
import { chatList } from "./list.svelte.ts";
import { type ListedFolder, reordered } from "./listed.ts";

function patch(id: string, change: Partial<ListedFolder>): void {
  chatList.folders = chatList.folders.map((folder) => (folder.id === id ? { ...folder, ...change } : folder));
}

/** One write after the other: the last click wins on the server as well. */
let writing: Promise<unknown> = Promise.resolve();

/** Shows or hides what is in a folder; the server remembers it. */
export async function expandFolder(id: string, isOpen: boolean): Promise<void> {
  const show = (isExpanded: boolean) => {
    chatList.expanded.set(id, isExpanded);
    patch(id, { is_expanded: isExpanded });
  };
  show(isOpen);
  const written = writing.then(() =>
    server.call("POST /api/v1/folders/:id/update/expanded", {
      params: { id },
      body: { is_expanded: isOpen },
    }),
  );
  writing = written.catch(() => undefined);
  try {
    await Promise.all([written, isOpen ? chatList.readFolder(id) : undefined]);
  } catch (error) {
    show(!isOpen);
    toasts.fail(error, t("The folder was not opened."));
  }
}

export async function renameFolder(id: string, name: string): Promise<void> {
  patch(id, { name });
  await attempt(
    () => server.call("POST /api/v1/folders/:id/update", { params: { id }, body: { name } }),
    t("The folder was not renamed."),
  );
}

/** Where a folder is put: into which one, and before which of those in there. */
export interface FolderPlace {
  readonly parentId: string | null;
  /** Null is the end; left out, the order of before holds. */
  readonly before?: string | null;
}

/** Puts a folder into another one or out of it, and to its place among those in there. */
export async function moveFolder(id: string, { parentId, before }: FolderPlace): Promise<void> {
  const folder = chatList.folders.find((one) => one.id === id);
  if (!folder) {
    return;
  }
  const from = folder.parent_id;
  const siblings = chatList.folders.filter((one) => one.parent_id === parentId);
  const orders = before === undefined ? new Map<string, number>() : reordered(siblings, folder, before);
  const former = new Map(
    [...orders.keys()].map((key) => [key, chatList.folders.find((one) => one.id === key)?.meta["order"]]),
  );
  const isDone = await place(id, parentId, orders);
  if (!isDone || (from === parentId && orders.size === 0)) {
    return;
  }
  const into = chatList.folders.find((one) => one.id === parentId);
  toasts.show({
    kind: "good",
    text: movedText(folder.name, from === parentId ? undefined : (into?.name ?? null)),
    seconds: 10,
    action: { title: t("Undo"), run: () => place(id, from, former) },
  });
}

function movedText(name: string, into: string | null | undefined): string {
  if (into === undefined) {
    return t("“{name}” was moved.", { name });
  }
  return into === null
    ? t("“{name}” was moved out of its folder.", { name })
    : t("“{name}” was moved into “{folder}”.", { name, folder: into });
}

/** Shows and stores a folder's parent and the order of those beside it; an order of undefined takes one away. */
async function place(
  id: string,
  parentId: string | null,
  orders: ReadonlyMap<string, unknown>,
): Promise<boolean> {
  const from = chatList.folders.find((one) => one.id === id)?.parent_id;
  patch(id, { parent_id: parentId });
  for (const [key, order] of orders) {
    patch(key, { meta: { ...chatList.folders.find((one) => one.id === key)?.meta, order } });
  }
  return await attempt(async () => {
    if (from !== parentId) {
      await server.call("POST /api/v1/folders/:id/update/parent", {
        params: { id },
        body: { parent_id: parentId },
      });
    }
    // All at once: a page that goes meanwhile leaves no half of the order behind.
    await Promise.all(
      [...orders].map(([key, order]) =>
        server.call("POST /api/v1/folders/:id/update", {
          params: { id: key },
          body: { meta: { order: order ?? null } },
        }),
      ),
    );
  }, t("The folder was not moved."));
}

/** Deletes a folder and those inside it once the time for undoing is over; its chats stay unless they go along. */
export function removeFolder({ id, name }: ListedFolder, withChats: boolean): void {
  chatList.hidden.add(id);
  toasts.undoable({
    text: withChats
      ? t("“{name}” and its chats were deleted.", { name })
      : t("“{name}” was deleted; its chats stay.", { name }),
    title: t("Undo"),
    undo: () => chatList.hidden.delete(id),
    commit: async () => {
      await attempt(
        () =>
          server.call("DELETE /api/v1/folders/:id", {
            params: { id },
            query: { delete_contents: String(withChats) } as never,
          }),
        t("The folder was not deleted."),
      );
      chatList.hidden.delete(id);
    },
  });
}
