import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import type { EventEnvelope } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { inbox, type Notification } from "./inbox.svelte.ts";
import { kindWords, titleWords } from "./words.ts";

interface Created {
  readonly unread: number;
  readonly notification: Notification;
}

/** Keeps marks and list of this window as the server has them, and shows what is new. */
export async function answer({ data: { type, data } }: EventEnvelope): Promise<void> {
  if (type === "notification:read") {
    const { unread, ids } = data as { readonly unread: number; readonly ids: readonly string[] | null };
    inbox.seen(ids, unread);
    return;
  }
  const { unread, notification } = data as Created;
  inbox.created(notification, unread);
  const { event, path } = notification;
  // The calendar reminds by a toast of its own.
  if (event === "calendar.alert") {
    return;
  }
  if (path !== null && router.path === path && document.hasFocus()) {
    await inbox.markRead([notification.id]);
    return;
  }
  toasts.show({
    kind: event.endsWith("failed") ? "warning" : "info",
    text: `${kindWords(event)}: ${titleWords(notification)}`,
    ...(path !== null && { action: { title: t("Open"), run: () => router.navigate(path) } }),
  });
}
