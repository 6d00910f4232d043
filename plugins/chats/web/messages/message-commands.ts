import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { ChatView } from "../data/types.ts";

/** True while a function works on the message. */
export function isActing(chat: ChatView, id: string): boolean {
  const run = chat.actionRun(id);
  return run !== undefined && run.failure === undefined;
}

/** Takes a message out at once; it can be brought back for ten seconds. */
export async function removeMessage(chat: ChatView, id: string): Promise<void> {
  try {
    const restore = await chat.remove(id);
    toasts.show({
      text: t("The message was deleted."),
      seconds: 10,
      action: {
        title: t("Undo"),
        run: () => restore().catch((error: unknown) => toasts.fail(error, t("Couldn’t be restored."))),
      },
    });
  } catch (error) {
    toasts.fail(error, t("The message was not deleted."));
  }
}

/** Goes on from a message in a chat of its own. */
export async function forkChat(chat: ChatView, id: string): Promise<void> {
  try {
    router.navigate(`/c/${await chat.fork(id)}`);
  } catch (error) {
    toasts.fail(error, t("The chat could not be copied."));
  }
}
