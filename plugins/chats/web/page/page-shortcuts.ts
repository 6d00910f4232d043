import { copyText } from "#plugins/web/kit/copy-text.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Shortcut } from "#plugins/web/kit/shortcuts.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { Composer } from "../composer/composer.svelte.ts";
import type { ChatView } from "../data/types.ts";

interface ShownPage {
  chat(): ChatView;
  composer(): Composer;
  togglePanel(): void;
}

/** The keys of the chat page. */
export function pageShortcuts({ chat, composer, togglePanel }: ShownPage): Shortcut[] {
  const group = t("Chat");
  const panel = { keys: "Mod+.", title: t("Open or close the controls"), group, run: togglePanel };
  return [
    { keys: "Mod+/", title: t("Write a message"), group, run: () => composer().focus() },
    { keys: "Mod+Shift+C", title: t("Copy the last reply"), group, run: () => copyLast(chat()) },
    ...(session.may("chat.controls") ? [panel] : []),
    { keys: "Escape", title: t("Stop the reply"), group, run: (event) => stop(composer(), event) },
  ];
}

async function copyLast(chat: ChatView): Promise<void> {
  const reply = chat.branch.findLast(({ role, content }) => role === "assistant" && content !== "");
  if (reply) {
    try {
      await copyText(reply.content);
      toasts.show({ kind: "good", text: t("The last reply was copied.") });
    } catch (error) {
      toasts.fail(error, t("The reply was not copied."));
    }
  }
}

/** Esc in a dialog or a menu closes that alone. */
async function stop(composer: Composer, { target }: KeyboardEvent): Promise<void> {
  const isElsewhere = target instanceof Element && target.closest('[role="dialog"], [role="menu"]') !== null;
  if (composer.chat.isRunning && !isElsewhere) {
    try {
      await composer.stop();
    } catch (error) {
      toasts.fail(error, t("The reply was not stopped."));
    }
  }
}
