import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { chatList } from "./list.svelte.ts";
import { withChat } from "./listed.ts";
import { knownChat, openChat } from "./open-chats.ts";
import { toStorable } from "./storable-text.ts";

/** What people do to chats of the list: shown at once, taken back when the server refuses. */

export async function renameChat(id: string, typed: string): Promise<void> {
  const title = toStorable(typed);
  const before = chatList.find(id)?.title ?? "";
  chatList.patch(id, { title });
  try {
    await server.call("POST /api/v1/chats/:id", {
      params: { id },
      body: { chat: { title } },
      headers: { prefer: "return=minimal" },
    });
    if (id === chatList.openId) {
      openChat(id).title = title;
    }
  } catch (error) {
    chatList.patch(id, { title: before });
    toasts.fail(error, t("The chat was not renamed."));
  }
}

export async function pinChat(id: string): Promise<void> {
  const chat = chatList.find(id);
  if (!chat) {
    return;
  }
  const pinned = !chatList.isPinned(id);
  if (!pinned) {
    chatList.pinned = chatList.pinned.filter((one) => one.id !== id);
    if (chatList.folderOf(id) === null) {
      chatList.recent = withChat(chatList.recent, chat);
    }
  } else {
    chatList.pinned = withChat(chatList.pinned, chat);
    chatList.recent = chatList.recent.filter((one) => one.id !== id);
  }
  const isDone = await attempt(
    () => server.call("POST /api/v1/chats/:id/pin", { params: { id }, body: { pinned } }),
    t("The chat was not pinned."),
  );
  const shown = isDone ? knownChat(id) : undefined;
  if (shown) {
    shown.isPinned = pinned;
  }
}

/** Puts chats into a folder, or with null into none. */
export async function moveChats(ids: readonly string[], folderId: string | null): Promise<void> {
  const from = new Map(ids.map((id) => [id, chatList.folderOf(id)]));
  const isDone = await put(new Map(ids.map((id) => [id, folderId])));
  if (!isDone) {
    return;
  }
  const name = chatList.folders.find(({ id }) => id === folderId)?.name;
  toasts.show({
    kind: "good",
    text: name === undefined ? t("Moved out of the folder.") : t("Moved to “{name}”.", { name }),
    seconds: 10,
    action: { title: t("Undo"), run: () => put(from) },
  });
}

async function put(places: ReadonlyMap<string, string | null>): Promise<boolean> {
  for (const [id, folderId] of places) {
    const chat = chatList.find(id);
    const isPinned = chatList.isPinned(id);
    for (const [key, { items, isAll }] of chatList.contents) {
      const others = items.filter((one) => one.id !== id);
      chatList.contents.set(key, {
        items: key === folderId && chat ? withChat(others, chat) : others,
        isAll,
      });
    }
    const recent = chatList.recent.filter((one) => one.id !== id);
    chatList.recent = folderId === null && chat && !isPinned ? withChat(recent, chat) : recent;
  }
  return await attempt(async () => {
    for (const [id, folder_id] of places) {
      await server.call("POST /api/v1/chats/:id/folder", {
        params: { id },
        body: { folder_id },
        headers: { prefer: "return=minimal" },
      });
    }
  }, t("Not every chat was moved."));
}

export async function archiveChats(ids: readonly string[]): Promise<void> {
  const text = titled(ids, {
    one: (title) => t("“{title}” was archived.", { title }),
    many: (count) => plural(count, "{count} chat was archived.", "{count} chats were archived."),
  });
  hide(ids);
  const set = async (archived: boolean) => {
    for (const id of ids) {
      await server.call("POST /api/v1/chats/:id/archive", { params: { id }, body: { archived } });
      const shown = knownChat(id);
      if (shown) {
        shown.isArchived = archived;
      }
    }
  };
  const isDone = await attempt(() => set(true), t("Not every chat was archived."));
  ids.forEach((id) => chatList.hidden.delete(id));
  if (isDone) {
    chatList.drop(ids);
    toasts.show({
      kind: "good",
      text,
      seconds: 10,
      action: {
        title: t("Undo"),
        run: () => attempt(() => set(false), t("Some chats couldn’t be restored.")),
      },
    });
  }
}

/** Deletes on the server once the time for undoing is over. */
export function removeChats(ids: readonly string[]): void {
  const text = titled(ids, {
    one: (title) => t("“{title}” was deleted.", { title }),
    many: (count) => plural(count, "{count} chat was deleted.", "{count} chats were deleted."),
  });
  const show = () => ids.forEach((id) => chatList.hidden.delete(id));
  hide(ids);
  toasts.undoable({
    text,
    title: t("Undo"),
    undo: show,
    commit: async () => {
      await attempt(async () => {
        for (const id of ids) {
          await server.call("DELETE /api/v1/chats/:id", { params: { id } });
          chatList.drop([id]);
        }
      }, t("Not every chat was deleted."));
      show();
    },
  });
}

/** Gives chats a tag; undo takes it from those alone that did not have it. */
export async function tagChats(ids: readonly string[], name: string): Promise<void> {
  const added: string[] = [];
  const tag = async () => {
    for (const id of ids) {
      const before = await server.call("GET /api/v1/chats/:id/tags", { params: { id } });
      const after = await server.call("POST /api/v1/chats/:id/tags", { params: { id }, body: { name } });
      if (after.length > before.length) {
        added.push(id);
      }
    }
  };
  const untag = async () => {
    for (const id of added) {
      await server.call("DELETE /api/v1/chats/:id/tags", { params: { id }, body: { name } });
    }
  };
  if (await attempt(tag, t("Not every chat was tagged."))) {
    toasts.show({
      kind: "good",
      text: t("Tagged “{name}”.", { name }),
      seconds: 10,
      action: { title: t("Undo"), run: () => attempt(untag, t("Not every tag was taken off.")) },
    });
  }
}

export async function cloneChat(id: string): Promise<void> {
  await attempt(async () => {
    const copy = (await server.call("POST /api/v1/chats/:id/clone", {
      params: { id },
      body: {},
    })) as { readonly id: string };
    router.navigate(`/c/${copy.id}`);
  }, t("The chat was not copied."));
}

/** Out of sight; a page that shows one of them becomes that of a new chat. */
function hide(ids: readonly string[]): void {
  ids.forEach((id) => chatList.hidden.add(id));
  if (chatList.openId !== undefined && ids.includes(chatList.openId)) {
    router.navigate("/");
  }
}

/** Whatever happens, the list shows afterwards what the server has. */
export async function attempt(run: () => Promise<unknown>, failure: string): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    toasts.fail(error, failure);
    return false;
  } finally {
    await chatList.refresh().catch(() => undefined);
  }
}

function titled(
  ids: readonly string[],
  { one, many }: { one: (title: string) => string; many: (count: number) => string },
): string {
  const [id = ""] = ids;
  return ids.length === 1 ? one(chatList.find(id)?.title ?? "") : many(ids.length);
}
